"""Rules that move statements into functions: what comes out, and where they must keep away."""

from __future__ import annotations

import pytest

from tests.rules.rewriting import misses_in, reasons_in, variants_of

RULES = "statements/outlined_statements,statements/outlined_rest"


def test_statements_in_loops_and_tails_with_early_returns_are_outlined() -> None:
    source = """
    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.seen = 0

        def forward(self, x, y):
            '''Steps.'''
            total = x.clone()
            for k in range(3):
                total[k % 2] = y[0] * k
                total += y
                self.seen = self.seen + k
                x = total - x

            if x.sum() > 1e6:
                return x

            z = [t * 2 for t in x]  # rows
            return z, total
    """
    assert len(variants_of(source, "statements/outlined_statements")) >= 3
    assert len(variants_of(source, "statements/outlined_rest")) >= 4


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ("a = x + 1\n    b = (c := a) * 2\n    return b, c", "binds a name"),
        ("def see():\n        return a\n    a = x\n    b = see()\n    a = b + y\n    return see()", "sees a"),
        (
            "if x.ndim > 5:\n        c = y\n    a = x\n    b = a if x.ndim < 5 else c\n    return b",
            "c may have no value",
        ),
        (
            "try:\n        a = x + 1\n        b = a @ a\n    except RuntimeError:\n        b = 0\n    return b",
            "may be caught",
        ),
        ("x.add_(1)\n    a = x\n    b = [a for a in x]\n    return a, b", "comprehensions"),
        ("a = x; b = y\n    c = a\n    return b, c", "several on its line"),
        ("a = x\n    b = ''' '''\n    return a, b", "several lines"),
    ],
)
def test_run_of_statements_that_is_not_outlined_has_its_reason(lines: str, reason: str) -> None:
    source = f"def program(x, y):\n    x = x.clone()\n    {lines}\n"
    assert reason in misses_in(source, "statements/outlined_statements")


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ("def see():\n        return a\n    a = x\n    a = a + y\n    return see()", "sees a"),
        (
            "a = x\n    def step():\n        nonlocal a\n        a = a + 1\n    step()\n    return a",
            "variables of other functions",
        ),
        ("if x.ndim < 5:\n        c = y\n    a = x\n    return a + c", ""),
        ("if x.ndim > 5:\n        c = y\n    a = x\n    return a if x.ndim < 5 else c", "c may have no value"),
        ("a = x\n    b = a\n    del b\n    return a", "deleted"),
        ("a = x\n    class K:\n        pass\n    return K.__qualname__, a", "another name"),
    ],
)
def test_tail_that_is_not_outlined_has_its_reason(lines: str, reason: str) -> None:
    assert reason in misses_in(f"def program(x, y):\n    {lines}\n", "statements/outlined_rest")


def test_body_of_a_nested_function_that_reads_its_encloser_is_not_outlined() -> None:
    source = """
    def program(x, y):
        def inner(t):
            u = t * y
            return u + 1

        return inner(x)
    """
    assert "another function" in misses_in(source, "statements/outlined_rest")


def test_bodies_of_decorated_functions_and_generators_are_not_outlined() -> None:
    source = """
    import functools

    def program(x, y):
        a = x * 2

        @functools.lru_cache
        def f(n):
            return n + 1

        def rows():
            b = y
            yield b + 1

        return a * f(1), list(rows())
    """
    misses = misses_in(source, "statements/outlined_rest")
    assert "yields" in misses
    source = source.replace("yield b + 1", "return b + 1").replace("list(rows())", "rows()")
    assert "decorated" in misses_in(source, "statements/outlined_rest")


def test_statements_with_private_names_or_super_are_not_outlined() -> None:
    source = """
    class Model(torch.nn.Module):
        __k = 2

        def forward(self, x, y):
            a = x * self.__k
            b = super().extra_repr()
            return a, b, y
    """
    for rule in RULES.split(","):
        assert "means something else" in misses_in(source, rule)


def test_single_statement_is_not_outlined() -> None:
    assert "too few" in reasons_in("def program(x, y):\n    a = x\n", "statements/outlined_statements")
