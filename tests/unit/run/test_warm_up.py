"""What a process compiles before it forks others."""

import pytest
import torch

from eqfuzz.run.processes import warm_up


@pytest.mark.parametrize(("changed", "cuda", "times"), [(False, False, 1), (True, False, 0), (False, True, 0)])
def test_typical_programs_are_not_compiled_with_a_preload_or_on_cuda(monkeypatch, changed, cuda, times):
    """It might end the process that all others are forked from."""
    called: list[str] = []
    monkeypatch.setattr(warm_up, "begin", lambda _: None)
    monkeypatch.setattr(warm_up, "broaden", lambda: called.append("broaden"))
    warm_up.warm_up(cuda, changed=changed)
    assert len(called) == times


@pytest.mark.slow
def test_warm_up_compiles_and_kernels_are_built_again_afterwards():
    """Nothing of it fails, and kernels are built again afterwards."""
    warm_up.broaden()
    assert torch.compile(lambda x: x + 1)(torch.zeros(3)).tolist() == [1.0, 1.0, 1.0]
