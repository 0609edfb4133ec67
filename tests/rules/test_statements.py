"""Rules for whole statements: what comes out, and where they must keep away."""

from __future__ import annotations

import pytest
import torch

from tests.rules.rewriting import X, Y, misses_in, reasons_in, variants_of

EVERYTHING = """
def program(x, y):
    def norm(t):
        return (t * t).sum()

    a = torch.sin(x)
    b = y * 2.5
    a, b = b, a
    n = 3
    n = n * 2
    t = x.detach() * y.detach()
    t = t - y.detach()
    c = d = a + t * n
    for k in range(2):
        c = c + k
        parts = [c * 2 for _ in range(2)]
        if k: c = c - 0.5
    return norm(c) if n > 1 else None, d, parts[-1] @ b.t()
"""

RULES = {
    "reordered_statements": 1,
    "merged_assignments": 2,
    "split_assignment": 1,
    "chained_assignment": 8,
    "unchained_assignment": 1,
    "annotated_assignment": 6,
    "augmented_number": 1,
    "augmented_fresh_tensor": 1,
    "dead_computation": 6,
    "dead_list": 6,
    "asserted_fact": 12,
    "isinstance_guard": 6,
    "global_constant": 2,
}


@pytest.mark.parametrize("rule", RULES)
def test_rule_has_the_expected_number_of_variants_and_all_run(rule: str) -> None:
    assert len(variants_of(EVERYTHING, f"statements/{rule}")) >= RULES[rule]


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ("a = x * 2\n    b = a + 1\n    return a, b", "depends on the other"),
        ("b = y\n    a = b * 2\n    b = x * 3\n    return a, b", "depends on the other"),
        ("a = x.clone()\n    b = a.add_(1)\n    c = x * 2\n    return a, b, c", "side effects"),
        ("a = torch.rand(3)\n    b = torch.rand(3)\n    return a, b", "side effects"),
        ("n = [x]\n    a = n.pop()\n    b = len(n)\n    return a, b", "side effects"),
        ("def see():\n        return a\n    a = x * 2\n    b = y * 2\n    return see(), b", "other functions read"),
        ("a = b = x\n    c = y * 2\n    return a, b, c", "more than one variable"),
        (
            "a = b = None\n    try:\n        a = x * 2\n        b = x @ x\n    except RuntimeError:\n        pass\n"
            "    return a, b",
            "may be caught",
        ),
        (
            "import contextlib\n    a = b = None\n    with contextlib.suppress(RuntimeError):\n        a = x * 2\n"
            "        b = x @ x\n    return a, b",
            "may catch",
        ),
    ],
)
def test_statements_that_depend_on_each_other_keep_their_order(lines: str, reason: str) -> None:
    assert reason in misses_in(f"def program(x, y):\n    {lines}\n", "statements/reordered_statements")


def test_user_objects_keep_the_order_of_calls() -> None:
    source = """
    class Counter:
        def __init__(self):
            self.n = 0

        def bump(self):
            self.n = self.n + 1
            return self.n

    def program(x, y):
        counter = Counter()
        a = counter.bump()
        b = counter.bump() * 2
        return a, b, x
    """
    assert "Counter" in misses_in(source, "statements/reordered_statements")
    assert variants_of(source, "statements/merged_assignments")


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ("a = x\n    b = a\n    return a, b", "depends on the first"),
        ("a = x\n    b = (c := y)\n    return a, b, c", "binds a name"),
        ("global a\n    a = x\n    b = y\n    return a, b", "other functions read"),
    ],
)
def test_assignments_that_are_not_merged_have_a_reason(lines: str, reason: str) -> None:
    assert reason in misses_in(f"def program(x, y):\n    {lines}\n", "statements/merged_assignments")


@pytest.mark.parametrize(
    ("rule", "lines", "reason"),
    [
        ("split_assignment", "a, *b = x, y, x\n    return a, b", "targets and values differ"),
        ("split_assignment", "a, b = x[:2]\n    return a, b", "tuple to a tuple"),
        ("chained_assignment", "a, b = x, y\n    return a, b", "a tuple"),
        ("unchained_assignment", "a = x\n    return a", "one target"),
        ("annotated_assignment", "x[0] = 1\n    return x", "one variable"),
        ("annotated_assignment", "global a\n    a = x\n    return a", "another scope"),
        ("annotated_assignment", "a: object = x\n    a = y\n    return a", "annotation already"),
        ("augmented_number", "a = x\n    a = a + 1\n    return a, x", "in-place operation would"),
        ("augmented_number", "n = 1\n    n = 2 + n\n    return n", "left operand"),
        ("augmented_number", "n = 1\n    n = n << 2\n    return n", "no such form"),
        ("augmented_number", "n = [1]\n    m = n\n    n = n + [2]\n    return n, m", "in-place operation would"),
        ("augmented_fresh_tensor", "a = x\n    a = a + y\n    return a", "just before"),
        ("augmented_fresh_tensor", "a = b = x * 2\n    a = a + y\n    return a, b", "just before"),
        ("augmented_fresh_tensor", "b = x * 2\n    a = b\n    a = a + y\n    return a, b", "just before"),
        ("augmented_fresh_tensor", "a = x[0] * 2\n    a = a + y\n    return a", "another dtype, shape"),
        ("augmented_fresh_tensor", "a = x.int() + 2\n    a = a / 3\n    return a", "another dtype, shape"),
        ("augmented_fresh_tensor", "a = x * 2\n    a = a + a.t() @ a\n    return a", "only as the left operand"),
        ("global_constant", "return len(x) + 2", "not a tensor"),
        ("dead_computation", "return torch.rand(3)", "side effects"),
        ("dead_computation", "return x + 1 if x.ndim > 1 else y", "on a condition"),
        ("dead_list", "return torch.ones(3) * 2", "no variable"),
        ("dead_list", "return [t + 1 for t in x]", "more than once"),
        ("asserted_fact", "return [t + 1 for t in x]", "more than once"),
        ("asserted_fact", "z = x.clone()\n    return z.add_(1), z * 2", "before it"),
        ("isinstance_guard", "return torch.ones(3) * 2", "no variable"),
        ("isinstance_guard", "return (t := x) + t", "binds a name"),
    ],
)
def test_refused_statement_has_its_reason(rule: str, lines: str, reason: str) -> None:
    source = f"def program(x, y):\n    x = x.clone()\n    {lines}\n"
    square = torch.arange(9.0).reshape(3, 3)
    assert reason in misses_in(source, f"statements/{rule}", square, square + 1)


def test_tensor_that_needs_a_gradient_is_not_changed_in_place() -> None:
    source = "def program(x, y):\n    a = x * 2\n    a = a * y\n    return a\n"
    assert "needs a gradient" in reasons_in(source, "statements/augmented_fresh_tensor", X, Y.clone().requires_grad_())
    assert "a *= y" in variants_of(source, "statements/augmented_fresh_tensor")[0]


def test_facts_that_change_are_not_asserted() -> None:
    source = "def program(x, y):\n    for k in range(2):\n        x = x.sum(0)\n    return x\n"
    assert not [text for text in variants_of(source, "statements/asserted_fact") if "dim()" in text]


def test_rules_that_write_a_shadowed_builtin_are_refused() -> None:
    source = "def program(x, y):\n    tuple = isinstance = 3\n    return x * tuple * isinstance\n"
    for rule in ("asserted_fact", "isinstance_guard"):
        assert "means something else" in misses_in(source, f"statements/{rule}")


def test_no_variables_are_added_where_frames_are_inspected() -> None:
    source = "def program(x, y):\n    a = x\n    b = y\n    return sorted(locals()), a * b + 2\n"
    for rule in RULES:
        assert rule == "augmented_number" or not variants_of(source, f"statements/{rule}"), rule
