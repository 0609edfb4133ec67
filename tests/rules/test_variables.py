"""Rules that name variables otherwise: what comes out, and where they must keep away."""

from __future__ import annotations

import pytest

from tests.rules.rewriting import misses_in, reasons_in, variants_of

STEPS = """
def limit(t):
    return t.clamp(max=2)

def program(x, y, scale=2):
    z = {k: limit(t) for k, t in zip("ab", x)}
    w = x * scale
    for k in range(2):
        w = w + z["a"] * k
        with torch.no_grad():
            t = w.sum(dim=k)
    w += 1
    x = x - w
    del z
    return f"{x.ndim}", x, w, t, [w for w in x], torch.sum(input=x)
"""


@pytest.mark.parametrize(
    ("rule", "least"),
    [
        ("renamed_variable", 4),
        ("rebound_variable", 1),
        ("aliased_variable", 6),
        ("held_in_a_cell", 6),
        ("unpacked_from_one", 6),
        ("stored_through_global", 3),
    ],
)
def test_rule_has_the_expected_number_of_variants_and_all_run(rule: str, least: int) -> None:
    assert len(variants_of(STEPS, f"variables/{rule}")) >= least


def test_renamed_variable_may_shadow_a_builtin_or_a_module_level_name() -> None:
    source = "def helper(t):\n    return t\n\ndef program(x, y):\n    a = x + y\n    return a\n"
    texts = variants_of(source, "variables/renamed_variable")
    assert [line.strip() for text in texts for line in text.splitlines() if "x + y" in line] == [
        "a_1 = x + y",
        "input = x + y",
        "helper = x + y",
    ]


@pytest.mark.parametrize("rule", ["renamed_variable", "rebound_variable"])
@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ("a = x\n    def see():\n        return a\n    a = a + y\n    return see()", "other functions see a"),
        ("global a\n    a = x\n    a = a + y\n    return a", "other functions see a"),
        ("a = x\n    a = a + y\n    return f'{a=}'", "names of variables"),
        ("import math as a\n    a = x\n    return a", "matches patterns or imports"),
        ("match [x]:\n        case [a]:\n            pass\n    a = a + y\n    return a", "matches patterns or imports"),
        ("a, b = x, y\n    return a", "more than one variable"),
    ],
)
def test_variable_that_other_code_reads_by_name_is_not_renamed(rule: str, lines: str, reason: str) -> None:
    assert reason in misses_in(f"def program(x, y):\n    {lines}\n", f"variables/{rule}")


def test_parameter_is_rebound_to_a_new_name_and_not_renamed() -> None:
    source = "def program(x, y):\n    x = x + y\n    return x\n"
    assert "first mention" in reasons_in(source, "variables/renamed_variable")
    assert "x_1 = x + y" in variants_of(source, "variables/rebound_variable")[0]


def test_default_of_a_parameter_is_not_renamed_with_a_variable_of_its_name() -> None:
    source = "a = 3\n\ndef program(x, y, n=a):\n    a = x * n\n    return a\n"
    assert all("n=a)" in text for text in variants_of(source, "variables/renamed_variable"))


def test_variable_assigned_in_a_loop_is_not_rebound() -> None:
    source = "def program(x, y):\n    a = x\n    for _ in range(3):\n        a = a + y\n    return a\n"
    misses = misses_in(source, "variables/rebound_variable")
    assert "several times" in misses
    assert "first bound here" in misses


def test_variable_read_in_a_lambda_gets_no_alias() -> None:
    source = "def program(x, y):\n    return [x + 1 if x.ndim > 5 else 1, (lambda: y)()]\n"
    assert "evaluated later" in misses_in(source, "variables/aliased_variable")


def test_module_level_tensor_gets_no_alias() -> None:
    source = "W = torch.ones(3)\n\ndef program(x, y):\n    return x * W\n"
    assert "W is not a variable" in misses_in(source, "variables/aliased_variable")


@pytest.mark.parametrize("rule", ["held_in_a_cell", "unpacked_from_one", "stored_through_global"])
def test_expression_with_a_yield_is_not_moved(rule: str) -> None:
    source = """
    def program(x, y):
        def rows():
            z = torch.add((yield x), 1)
            yield z

        made = rows()
        first = next(made)
        return first, made.send(y)
    """
    assert "awaits" in misses_in(source, f"variables/{rule}")


def test_variable_changed_by_a_call_is_not_stored_in_a_global() -> None:
    source = "def program(x, y):\n    def step():\n        nonlocal x\n        x = x * 2\n        return y\n"
    source += "    z = step() + x\n    return z\n"
    assert "change x in between" in misses_in(source, "variables/stored_through_global")
