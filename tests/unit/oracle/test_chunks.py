"""References of programs whose noisy runs do not fit in memory at once, and what is kept between runs."""

from __future__ import annotations

import gc

import pytest
import torch

from eqfuzz.oracle.compare.value_digests import digests
from eqfuzz.oracle.observe.observation import numbers_in
from eqfuzz.oracle.observe.observer import observe
from eqfuzz.oracle.reference import error_bound
from eqfuzz.oracle.reference.error_bound import reference
from eqfuzz.oracle.shadow.storage_table import StorageTable
from eqfuzz.program.call import Call
from eqfuzz.torch_internals.tensors import storage_key

X = torch.arange(24.0).reshape(2, 12) / 7
CALLS = [Call((X.clone().requires_grad_(),), {})]


def program(x):
    return torch.nn.functional.layer_norm(x @ x.T, (2,)).exp(), torch.floor(x * 0.7), x.argmax()


def leaves(measured):
    (call,) = measured.calls
    return [leaf for _, leaf in [*call.outputs, *call.gradients]]


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of noisy runs that were in memory at once."""
    counts: list[int] = []
    mode = error_bound.ShadowMode

    def recorded(seed, samples, **options):
        counts.append(samples)
        return mode(seed, samples, **options)

    monkeypatch.setattr(error_bound, "ShadowMode", recorded)
    return counts


def test_runs_that_exceed_the_memory_are_made_in_parts(monkeypatch: pytest.MonkeyPatch, runs: list[int]):
    whole = reference(lambda: program, CALLS)
    monkeypatch.setattr(error_bound, "_MOST_BYTES", 100)
    parts = reference(lambda: program, CALLS)
    assert runs == [8, 8, 4, 2, 2, 2, 2]
    assert (whole.samples, parts.samples) == (8, 8)
    for one, other in zip(leaves(whole), leaves(parts), strict=True):
        assert torch.equal(one.value, other.value)
        assert (one.bound is None) == (other.bound is None)
        if one.bound is not None and one.value.is_floating_point() and one.jumped is None:
            ratio = other.bound[one.bound > 0] / one.bound[one.bound > 0]
            assert bool(((ratio > 0.1) & (ratio < 10)).all())


def test_more_runs_continue_those_before(runs: list[int]):
    few = reference(lambda: program, CALLS, samples=8)
    least = [None if leaf.bound is None else leaf.bound.clone() for leaf in leaves(few)]
    many = reference(lambda: program, CALLS, samples=32, before=few)
    assert runs == [8, 24]
    assert many.samples == 32
    for before, leaf in zip(least, leaves(many), strict=True):
        assert before is None or bool((leaf.bound >= before).all())


def test_a_jump_keeps_the_range_of_all_runs(monkeypatch: pytest.MonkeyPatch):
    def edges(x):
        return torch.floor(x * 3 / 3)

    monkeypatch.setattr(error_bound, "_MOST_BYTES", 100)
    ((_, leaf),) = reference(lambda: edges, [Call((torch.arange(50.0),), {})]).calls[0].outputs
    assert leaf.jumped is not None
    assert bool(leaf.jumped.any())
    assert bool((leaf.lowest <= leaf.value).all())
    assert bool((leaf.value <= leaf.highest).all())


def test_without_memory_every_difference_is_inconclusive(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(error_bound, "_ran_out_of_memory", lambda _: True)
    measured = reference(lambda: program, CALLS)
    assert measured.unknown == "its noisy runs need more memory than there is"
    assert measured.samples == 8


def test_values_of_dead_storages_are_dropped():
    table: StorageTable[str] = StorageTable()
    first, second = torch.zeros(3), torch.zeros(3)
    table.put(first.untyped_storage(), "first")
    table.put(second.untyped_storage(), "second")
    key = storage_key(second)
    del second
    gc.collect()
    assert [value for _, value in table.living()] == ["first"]
    assert table.get(key) == "second"
    table.sweep()
    assert table.values() == ["first"]
    assert key not in table


def test_lazy_parameters_have_a_reference():
    measured = reference(lambda: torch.nn.LazyLinear(3), [Call((X,), {})])
    assert not measured.unknown
    assert measured.calls[0].raised is None
    assert all(leaf.bound is not None for leaf in leaves(measured))


def test_digests_differ_with_any_bit_of_either_run():
    def observed(value):
        return observe(lambda: lambda x: (x, 3), [Call((torch.tensor([1.0, value]),), {})])

    zero = observed(0.0)
    assert digests(zero, zero) == digests(zero, observed(0.0))
    others = {digests(zero, observed(-0.0)), digests(observed(-0.0), zero), digests(zero, observed(1e-45))}
    assert len(others | {digests(zero, zero)}) == 4
    assert numbers_in(zero.calls[0]) == 4


ODD = {
    "one element of any stride": lambda: (
        torch.ones(1, dtype=torch.bfloat16).expand(1)[None][:, :1].as_strided((1,), (0,))
    ),
    "expanded": lambda: torch.ones(1).expand(3),
    "rank 0": lambda: torch.tensor(2, dtype=torch.int64),
    "empty": lambda: torch.empty(2, 0, dtype=torch.complex64),
    "conjugate": lambda: torch.tensor([1 + 2j]).conj(),
    "negative": lambda: torch.tensor([1 + 2j]).conj().imag,
    "transposed": lambda: torch.arange(6.0).reshape(2, 3).t(),
    "bool": lambda: torch.tensor([True, False]),
    "float8": lambda: torch.ones(2).to(torch.float8_e5m2),
    "sparse": lambda: torch.eye(2).to_sparse(),
    "compressed": lambda: torch.eye(2).to_sparse_csr(),
    "subclass": lambda: torch.nn.Parameter(torch.ones(2)),
}


@pytest.mark.parametrize("make", ODD.values(), ids=ODD.keys())
def test_every_kind_of_tensor_has_a_digest(make):
    once, again = (observe(lambda: lambda x: make(), [Call((torch.ones(1),), {})]) for _ in range(2))
    assert digests(once, once) == digests(again, again)


@pytest.mark.parametrize("kind", ["batch", "layer", "group", "rms"])
def test_bounds_do_not_grow_with_every_normalisation(kind: str):
    norms = {
        "batch": lambda: torch.nn.BatchNorm1d(12),
        "layer": lambda: torch.nn.LayerNorm(12),
        "group": lambda: torch.nn.GroupNorm(3, 12),
        "rms": lambda: torch.nn.RMSNorm(12),
    }

    def make():
        torch.manual_seed(0)
        return torch.nn.Sequential(*(layer for _ in range(30) for layer in (torch.nn.Linear(12, 12), norms[kind]())))

    (leaf, *_) = leaves(reference(make, [Call((torch.randn(16, 12, generator=torch.Generator().manual_seed(1)),), {})]))
    assert leaf.bound.max() < 1e-3
    assert not leaf.exact.any()


@pytest.mark.parametrize("kind", ["batch", "layer", "group", "rms"])
def test_a_mean_that_is_large_beside_the_deviations_is_rounded(kind: str):
    norms = {
        "batch": lambda x: torch.nn.functional.batch_norm(x.T, None, None, training=True).sum(0),
        "layer": lambda x: torch.nn.functional.layer_norm(x, (256,)).sum(1),
        "group": lambda x: torch.nn.functional.group_norm(x, 1).sum(1),
        "rms": lambda x: torch.nn.functional.rms_norm(x, (256,)).square().sum(1),
    }
    x = torch.randn(32, 256, generator=torch.Generator().manual_seed(1)) + 300
    ((_, leaf),) = reference(lambda: norms[kind], [Call((x,), {})], samples=32).calls[0].outputs
    error = (norms[kind](x).double() - leaf.value).abs()
    assert bool((error < 4 * leaf.bound).all())


NORMS = {
    "batch": lambda x: torch.nn.functional.batch_norm(x.T, None, None, training=True).T,
    "layer": lambda x: torch.nn.functional.layer_norm(x, (256,)),
    "group": lambda x: torch.nn.functional.group_norm(x, 1),
}


def rows_that_cancel(seed: int) -> torch.Tensor:
    x = torch.randn(32, 256, generator=torch.Generator().manual_seed(seed))
    x[:, 1:] -= x[:, 1:].mean(1, keepdim=True)
    x[:, :1] = 1e-4
    return x


@pytest.mark.parametrize("kind", NORMS)
def test_a_mean_in_which_large_numbers_cancel_is_rounded_like_them(kind: str):
    calls = [Call((rows_that_cancel(seed=1),), {})]
    ((_, leaf),) = reference(lambda: NORMS[kind], calls, samples=32).calls[0].outputs
    ((_, eager),) = observe(lambda: NORMS[kind], calls).calls[0].outputs
    error = (eager.double() - leaf.value).abs()
    assert bool((error < leaf.bound)[:, 0].all())
    assert leaf.bound.max() < 1e-5


@pytest.mark.parametrize("kind", NORMS)
def test_means_of_gradients_that_cancel_are_rounded_like_them(kind: str):
    factors = rows_that_cancel(seed=2)

    def program(x):
        return NORMS[kind](x) * factors

    calls = [Call((rows_that_cancel(seed=1).requires_grad_(),), {})]
    ((_, leaf),) = reference(lambda: program, calls, samples=32).calls[0].gradients
    ((_, eager),) = observe(lambda: program, calls).calls[0].gradients
    error = (eager.double() - leaf.value).abs()
    assert bool((error < leaf.bound / 2)[:, 0].all())
    assert leaf.bound.max() < 1e-5


def test_sums_of_complex_numbers_have_a_reference():
    def program(x):
        return torch.fft.irfft(x), x.sum(0)

    calls = [Call((torch.full((3, 8), 1 + 2j).requires_grad_(),), {})]
    measured = reference(lambda: program, calls, samples=8).calls[0]
    assert measured.raised is None
    assert all(leaf.bound is not None for _, leaf in measured.outputs)
