"""Shortcuts lead to the same place as torch's own way, and only where torch's own way is."""

import pytest
import sympy
from torch._dynamo import guards
from torch._inductor import sizevars
from torch._inductor.codegen import cpp
from torch.utils._sympy.functions import FloorDiv, ModularIndexing

from eqfuzz.torch_internals.shortcuts import is_linear, shortcuts

VECTORISING = sizevars if hasattr(sizevars, "simplify_index_in_vec_range") else cpp
"""Where torch looks at strides: until 2.12 beside the code generator."""

X, Y, SIZE = sympy.symbols("x0 x1 s0", integer=True)


@pytest.mark.parametrize("index", [32 * X + Y + 3, X, Y, sympy.Integer(7), 2 * (X + Y), X - 4 * Y])
def test_a_linear_index_has_the_stride_that_torch_finds(index: sympy.Expr):
    assert is_linear(index)
    VECTORISING.stride_at_vec_range.cache_clear()
    by_torch = [VECTORISING.stride_at_vec_range(index, variable, 8) for variable in (X, Y)]
    VECTORISING.stride_at_vec_range.cache_clear()
    with shortcuts():
        assert [VECTORISING.stride_at_vec_range(index, variable, 8) for variable in (X, Y)] == by_torch


@pytest.mark.parametrize("index", [FloorDiv(X, 4) + Y, ModularIndexing(X, 1, 8), SIZE * X, X * X, X + 0.5])
def test_torch_simplifies_what_is_not_linear(index: sympy.Expr):
    assert not is_linear(index)


def test_only_torchs_own_functions_are_replaced(monkeypatch: pytest.MonkeyPatch):
    def planted(*_: object) -> float:
        return 1.0

    measure = vars(guards)["profile_guard_manager"]
    monkeypatch.setattr(VECTORISING, "simplify_index_in_vec_range", planted)
    with shortcuts():
        assert VECTORISING.simplify_index_in_vec_range is planted
        assert vars(guards)["profile_guard_manager"] is not measure
    assert vars(guards)["profile_guard_manager"] is measure


def test_linear_indices_are_left_as_they_are():
    simplify = VECTORISING.simplify_index_in_vec_range
    index = 32 * X + Y
    with shortcuts():
        assert VECTORISING.simplify_index_in_vec_range is not simplify
        assert VECTORISING.simplify_index_in_vec_range(index, X, 8) is index
        assert VECTORISING.simplify_index_in_vec_range(FloorDiv(8 * X, 8), X, 8) == X
    assert VECTORISING.simplify_index_in_vec_range is simplify
