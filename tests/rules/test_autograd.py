"""Rules that change the autograd graph: where they keep out, and that gradients come through."""

from __future__ import annotations

import pytest
import torch

from eqfuzz.program.load import Loaded
from eqfuzz.program.program import Program, SeedFormat
from eqfuzz.rewrite.derivation import apply, original
from eqfuzz.rewrite.site import NearMiss, Site
from tests.rules.matching import HEADER, X, Y, assert_same, found_in, reasons_in, sites_in, variants


def gradients(source: str, *operands: torch.Tensor) -> list[torch.Tensor]:
    """The gradients of the sum of what ``program`` returns."""
    program = Loaded(Program("test", source, SeedFormat.EQFUZZ, "program", "program", "None")).instance()
    leaves = [o.clone().requires_grad_() for o in operands]
    return list(torch.autograd.grad(program(*leaves).sum(), leaves))


@pytest.mark.parametrize("rules", ["autograd/*", "barriers/*", "-randomness/*,-sparse/*"])
def test_gradients_are_unchanged(rules: str) -> None:
    source = HEADER + "def program(x, y):\n    z = torch.tanh(x) * y\n    return torch.exp(-z) + torch.sigmoid(x - y)\n"
    program = Program("test", source, SeedFormat.EQFUZZ, "program", "program", "None")
    operands = (X.clone().requires_grad_(), Y.clone().requires_grad_())
    wanted = gradients(source, X, Y)
    sites = [s for s in sites_in(source, rules, *operands) if s.rule.family in ("autograd", "barriers", "transforms")]
    assert len({s.rule.name for s in sites}) >= 5
    for site in sites:
        assert_same(gradients(apply(original(program), [site]).program.source, X, Y), wanted)


@pytest.mark.parametrize(
    "rule", ["unary_function", "identity_function", "checkpointed", "gradient_hook", "straight_through"]
)
def test_programs_that_compute_gradients_are_left_alone(rule: str) -> None:
    source = f"{HEADER}def program(x):\n    x = x.clone().requires_grad_()\n    y = torch.tanh(x) * 2\n"
    source += "    return torch.autograd.grad(y.sum(), x)\n"
    assert sites_in(source, f"autograd/{rule}", X) == []
    assert "computes gradients itself" in " ".join(reasons_in(source, f"autograd/{rule}", X))


@pytest.mark.parametrize(
    ("body", "place", "rule", "reason"),
    [
        ("return torch.tanh(x.long())", "torch.tanh(x.long())", "autograd/unary_function", "not a floating"),
        ("return x * y[0]", "x * y[0]", "autograd/binary_function", "broadcast"),
        ("return x.double() * y", "x.double() * y", "autograd/binary_function", "one dtype"),
        ("z = x.cos()\n    z.add_(1)\n    return z", "x.cos()", "autograd/identity_function", "changed later"),
        (
            "x = x.clone()\n    z = x * 2\n    x.add_(1)\n    return z",
            "x * 2",
            "autograd/checkpointed",
            "x is changed later",
        ),
        ("return torch.rand(2, 3) * x", "torch.rand(2, 3) * x", "autograd/checkpointed", "side effects"),
        ("return x[[i for i in range(2)]] * 2", "x[[i for i in range(2)]] * 2", "autograd/checkpointed", "a scope"),
        ("return helper(x) * 2", "helper(x) * 2", "autograd/checkpointed", "side effects"),
        ("return torch.zeros(3) + LIMIT", "torch.zeros(3) + LIMIT", "autograd/checkpointed", "neither a local"),
        ("return torch.zeros(3) + 1", "torch.zeros(3) + 1", "autograd/checkpointed", "reads no tensor"),
        ("z = w = x * 2\n    return z, w", "z = w = x * 2", "autograd/gradient_hook", "not stored in one name"),
        ("z = x\n    return z", "z = x", "autograd/gradient_hook", "another reference"),
        ("z = x > 2\n    return z", "z = x > 2", "autograd/gradient_hook", "another reference"),
        ("z = x / 0\n    return z", "z", "autograd/straight_through", "NaN, infinities or -0.0"),
        ("return x * y, torch.vmap(torch.sin)(x)", "x * y", "barriers/opaque_binary", "transforms its functions"),
        (
            "return torch.where(x > y, x, y)[x > 0] * 1",
            "torch.where(x > y, x, y)[x > 0] * 1",
            "barriers/exported",
            "more than numbers",
        ),
        ("return x.reshape(x.shape[0], 3) * 1", "x.reshape(x.shape[0], 3) * 1", "barriers/exported", "shape"),
        ("return torch.unique(x) * 1", "torch.unique(x) * 1", "barriers/exported", "depends on values"),
        ("return F.normalize(x) * 1", "F.normalize(x) * 1", "barriers/exported", "written in Python"),
        ("return abs(x) * 1", "abs(x) * 1", "barriers/traced_symbolically", "function of Python"),
        ("n = 3\n    return x * n", "x * n", "barriers/traced_symbolically", "a number that it reads"),
        (
            "return torch.cond(y.sum() > 0, lambda t: t + 1, lambda t: t - 1, (x,))",
            "return torch.cond(y.sum() > 0, lambda t: t + 1, lambda t: t - 1, (x,))",
            "barriers/graph_break",
            "cond",
        ),
    ],
)
def test_refused_site_has_its_reason(body: str, place: str, rule: str, reason: str) -> None:
    source = f"{HEADER}LIMIT = torch.ones(3)\n\n\ndef helper(x):\n    return x\n\n\ndef program(x, y):\n    {body}\n"
    places = found_in(source, rule, X.clone(), Y.clone())
    assert [f for f in places if isinstance(f, NearMiss) and f.before == place and reason in f.reason]
    assert not [f for f in places if isinstance(f, Site) and f.before == place]


def test_a_walrus_is_not_read_before_it_is_stored() -> None:
    source = HEADER + "def program(x):\n    y = (z := x * 2) + z\n    return y\n"
    texts = [s.text for s in sites_in(source, "barriers/shape_checked", X)]
    assert texts
    assert not any("z.shape" in t for t in texts)


def test_operators_are_defined_once_in_a_process() -> None:
    source = HEADER + "def program(x):\n    return torch.sin(x) + torch.sin(x * 2)\n"
    first, second = variants(source, "barriers/opaque_unary", X)
    again = variants(first, "barriers/opaque_unary", X)
    assert len(again) == 1
    assert again[0].count("if not hasattr(torch.ops.eqfuzz") == 2
    assert "torch.ops.eqfuzz.opaque_sin(x)" in first
    assert "torch.ops.eqfuzz.opaque_sin(x * 2)" in second


def test_definitions_are_not_rewritten_again() -> None:
    """What is inside a custom operator has no other name for its result's strides; nothing else may come there."""
    source = HEADER + "def program(x):\n    return torch.sin(x) + 1\n"
    (text,) = variants(source, "barriers/opaque_unary", X)
    assert {s.before for s in sites_in(text, "layout/column_major", X)} == {
        "x",
        "torch.ops.eqfuzz.opaque_sin(x)",
        "torch.ops.eqfuzz.opaque_sin(x) + 1",
    }


def test_a_closure_takes_attributes_as_operands() -> None:
    source = f"""{HEADER}
class Scaled:
    def __init__(self):
        self.scale = torch.full((3,), 0.5)

    def run(self, x):
        return torch.sin(x * self.scale)


def program(x):
    return Scaled().run(x)
"""
    texts = variants(source, "autograd/checkpointed", X)
    assert any("lambda x, scale1: torch.sin(x * scale1), x, self.scale" in t for t in texts)


def test_strings_over_several_lines_are_not_indented() -> None:
    source = HEADER + 'def program(x):\n    y = x * len("""a\n  b""")\n    return y\n'
    assert sites_in(source, "randomness/state_forked", X) == []
