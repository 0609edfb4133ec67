import pytest
import sympy
import torch
from torch._dynamo import guards
from torch._inductor import sizevars
from torch.utils._sympy.functions import FloorDiv, ModularIndexing

from eqfuzz.run import warm_up
from eqfuzz.run.warm_up import broaden
from eqfuzz.torch_internals.shortcuts import is_linear, shortcuts

X, Y, SIZE = sympy.symbols("x0 x1 s0", integer=True)


@pytest.mark.parametrize("index", [32 * X + Y + 3, X, Y, sympy.Integer(7), 2 * (X + Y), X - 4 * Y])
def test_a_linear_index_has_the_stride_that_torch_finds(index: sympy.Expr):
    assert is_linear(index)
    sizevars.stride_at_vec_range.cache_clear()
    by_torch = [sizevars.stride_at_vec_range(index, variable, 8) for variable in (X, Y)]
    sizevars.stride_at_vec_range.cache_clear()
    with shortcuts():
        assert [sizevars.stride_at_vec_range(index, variable, 8) for variable in (X, Y)] == by_torch


@pytest.mark.parametrize("index", [FloorDiv(X, 4) + Y, ModularIndexing(X, 1, 8), SIZE * X, X * X, X + 0.5])
def test_torch_simplifies_what_is_not_linear(index: sympy.Expr):
    assert not is_linear(index)


def test_only_what_is_torchs_own_is_left_out(monkeypatch: pytest.MonkeyPatch):
    def planted(*_: object) -> float:
        return 1.0

    measure = vars(guards)["profile_guard_manager"]
    monkeypatch.setattr(sizevars, "simplify_index_in_vec_range", planted)
    with shortcuts():
        assert sizevars.simplify_index_in_vec_range is planted
        assert vars(guards)["profile_guard_manager"] is not measure
    assert vars(guards)["profile_guard_manager"] is measure


@pytest.mark.parametrize(("changed", "cuda", "times"), [(False, False, 1), (True, False, 0), (False, True, 0)])
def test_a_changed_compiler_is_not_tried_on_typical_programs(monkeypatch, changed, cuda, times):
    """It might end the process that all others are forked from."""
    called: list[str] = []
    monkeypatch.setattr(warm_up, "begin", lambda _: None)
    monkeypatch.setattr(warm_up, "broaden", lambda: called.append("broaden"))
    warm_up.warm_up(cuda, changed=changed)
    assert len(called) == times


@pytest.mark.slow
def test_what_processes_begin_with_compiles():
    """Nothing of it fails, and kernels are built again afterwards."""
    broaden()
    assert torch.compile(lambda x: x + 1)(torch.zeros(3)).tolist() == [1.0, 1.0, 1.0]
