"""Modes and transforms that are active are noticed."""

import torch

from eqfuzz.torch_internals.modes import TorchDispatchMode, is_inside_transform, modes_are_active


def test_tensors_inside_function_transforms_are_recognised():
    seen = []
    torch.vmap(lambda t: seen.append(is_inside_transform(t)) or t)(torch.ones(3))
    torch.func.grad(lambda t: seen.append(is_inside_transform(t)) or t.sum())(torch.ones(3))
    assert seen == [True, True]
    assert not is_inside_transform(torch.ones(3))


def test_active_modes_are_recognised():
    assert not modes_are_active()
    with TorchDispatchMode():
        assert modes_are_active()
    seen = []
    torch.func.grad(lambda t: seen.append(modes_are_active()) or t.sum())(torch.ones(3))
    assert seen == [True]
    assert not modes_are_active()
