"""Rules for calls: what comes out, and where they must keep away."""

from __future__ import annotations

import pytest
import torch

from tests.rules.rewriting import misses_in, reasons_in, variants_of

EVERYTHING = """
LIMIT = 2.0

def clipped(t, low=-1, *, high=LIMIT):
    return t.clamp(low, high)

def scaled(t, k=2):
    'Scales.'
    return t * k + LIMIT

def halved(t): return t / 2

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(3, 3)

    def forward(self, x, y):
        z = torch.cat([x, y * 2], dim=0).sum(dim=0, keepdim=True)
        rows = [scaled(t) for t in self.fc(x)]
        w = scaled(torch.sin(y), k=3) + halved(z)
        for k in range(2):
            w = F.layer_norm(
                w,  # all
                (3,),
                eps=1e-3,
            )
        return clipped(w, high=3), torch.stack((rows[0], rows[1]))
"""

RULES = {
    "partial_application": 6,
    "starred_arguments": 6,
    "starred_variable": 5,
    "keyword_dict": 6,
    "function_by_name": 6,
    "method_caller": 1,
    "function_in_a_variable": 6,
    "imported_in_place": 3,
    "dispatch_table": 6,
    "chained_list_argument": 6,
    "set_membership": 10,
    "formatted_key": 6,
    "inlined_helper": 3,
}


@pytest.mark.parametrize("rule", RULES)
def test_rule_has_the_expected_number_of_variants_and_all_run(rule: str) -> None:
    assert len(variants_of(EVERYTHING, f"calls/{rule}")) >= RULES[rule]


@pytest.mark.parametrize(
    ("rule", "lines", "reason"),
    [
        ("partial_application", "return torch.ones(size=(3,))", "no positional argument"),
        ("partial_application", "return (lambda t: t + 1)(x)", "plain name"),
        ("starred_arguments", "return torch.add(*(x, y))", "starred"),
        ("starred_arguments", "return sum((t for t in x), y)", "a generator"),
        ("starred_variable", "z = x.clone()\n    return z.add_(1), torch.add(z, y)", "before it"),
        ("keyword_dict", "return torch.add(x, y)", "no keyword argument"),
        ("keyword_dict", "return torch.sum(x, **{'dim': 0})", "starred"),
        ("function_by_name", "from torch import sin\n    return sin(x)", "not an attribute"),
        ("method_caller", "return torch.sin(x)", "not a method"),
        ("method_caller", "return x.clone().add_(x.clone().mul_(2))", "before the object"),
        ("function_in_a_variable", "return x.sin()", "not a function of torch"),
        ("imported_in_place", "return torch.Tensor.sin(x)", "not a function of a torch module"),
        ("dispatch_table", "return x.sin()", "not a function of torch"),
        ("chained_list_argument", "return torch.cat([x])", "fewer than two"),
        ("chained_list_argument", "return torch.cat([*x, y[0]])", "starred ones"),
        ("chained_list_argument", "return torch.sum(x, (0, 1))", "takes a list"),
        ("set_membership", "return len(x) + 1", "not a tensor"),
        ("formatted_key", "return torch.ones(2) * 3", "no tensor variable"),
    ],
)
def test_refused_call_has_its_reason(rule: str, lines: str, reason: str) -> None:
    source = f"def program(x, y):\n    {lines}\n"
    assert reason in misses_in(source, f"calls/{rule}")


@pytest.mark.parametrize(
    ("helper", "call", "reason"),
    [
        ("def f(t):\n    u = t\n    return u", "f(x)", "does more"),
        ("def f(t):\n    return t + x\nx = 1", "f(y)", "x means something else"),
        ("def f(t):\n    return [t for _ in range(2)]", "f(x)", "binds names"),
        ("def f(t):\n    return (u := t) + u", "f(x)", "binds names"),
        ("def f(t):\n    return lambda: t", "[f(x)][0]()", "binds names"),
        ("def f(*t):\n    return t", "f(x)", "not all plain"),
        ("def f(t, *, k=1):\n    return t * k", "f(x)", "not all plain"),
        ("def f(t, k=torch.ones(1)):\n    return t * k", "f(x)", "not a constant"),
        ("def f(t):\n    return t * t", "f(x + 1)", "used several times"),
        ("def f(t):\n    return t", "f(x.clone().add_(1))", "side effects"),
        ("def f(t, u):\n    return t.add_(1) * u", "f(x.clone(), x.sum())", "side effects"),
        ("def f(t):\n    return t\ndef f(t):\n    return t + 1", "f(x)", "exactly once"),
        ("def f(t):\n    return t\nf = torch.sin", "f(x)", "exactly once"),
        ("import functools\n@functools.lru_cache\ndef f(t):\n    return t", "f(2) * x", "decorated"),
        ("def f(t, u):\n    return t + u", "f(*(x, y))", "starred"),
        ("def f(t):\n    return f'{t}'", "f(2), x", "binds names"),
        ("def f(t):\n    return g(t)\ndef g(t):\n    return t * 2", "f(x + 1)", "side effects"),
    ],
)
def test_helper_that_is_not_inlined_has_its_reason(helper: str, call: str, reason: str) -> None:
    source = f"{helper}\ndef program(x, y):\n    return {call}\n"
    assert reason in misses_in(source, "calls/inlined_helper")


def test_local_function_of_the_same_name_is_not_inlined() -> None:
    source = "def f(t):\n    return t\n\ndef program(x, y):\n    f = torch.sin\n    return f(x)\n"
    assert "not only a function at module level" in reasons_in(source, "calls/inlined_helper")


def test_inlined_argument_is_parenthesised_and_keywords_keep_their_names() -> None:
    source = "def f(k, dim):\n    return torch.sum(k, dim=dim) * dim\n\ndef program(x, y):\n    return f(x - y, 1)\n"
    (text,) = variants_of(source, "calls/inlined_helper")
    assert "(torch.sum((x - y), dim=(1)) * (1))" in text


def test_variable_that_a_call_changes_keeps_its_place_in_the_order() -> None:
    source = """
    def f(t, u):
        return u + t

    def program(x, y):
        def step():
            nonlocal x
            x = x * 2
            return y

        return f(x, step())
    """
    assert "defined by the program" in misses_in(source, "calls/inlined_helper") or "side effects" in misses_in(
        source, "calls/inlined_helper"
    )


def test_random_arguments_keep_their_order() -> None:
    source = (
        "def program(x, y):\n    return torch.addcmul(torch.rand(3), torch.rand(3), value=2, tensor2=torch.rand(3))\n"
    )
    for rule in ("partial_application", "starred_arguments", "starred_variable", "keyword_dict"):
        assert variants_of(source, f"calls/{rule}", torch.ones(1), torch.ones(1))


def test_rules_that_write_a_shadowed_name_are_refused() -> None:
    source = "def program(x, y):\n    getattr = dict = functools = 2\n    return torch.sum(x * getattr * dict, dim=0)\n"
    for rule in ("function_by_name", "keyword_dict", "partial_application"):
        assert "means something else" in misses_in(source, f"calls/{rule}") or rule == "keyword_dict"
