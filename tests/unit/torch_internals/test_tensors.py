"""Storages and views as torch keeps them."""

import torch

from eqfuzz.torch_internals.tensors import key_of_storage, negated_view, storage_key, version


def test_tensors_that_share_memory_have_one_storage_key():
    x = torch.ones(4, 4)
    assert storage_key(x) == storage_key(x.t()) == storage_key(x[1:]) == storage_key(x.detach())
    assert storage_key(x) != storage_key(x.clone())


def test_writes_are_counted_through_views():
    x = torch.zeros(3)
    before = version(x)
    x[1:].add_(1)
    assert version(x) > before


def test_a_negated_view_shares_memory():
    x = torch.ones(3)
    seen = negated_view(x)
    x.mul_(2)
    assert seen.tolist() == [-2.0] * 3
    assert key_of_storage(seen.untyped_storage()) == storage_key(x)
