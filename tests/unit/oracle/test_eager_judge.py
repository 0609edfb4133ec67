"""Verdicts: planted errors are found, legal differences are not, and every kind is said for the right reason."""

import copy
import dataclasses

import numpy as np
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st

from eqfuzz.oracle.compare.eager_judge import judge_rewrite, judge_self
from eqfuzz.oracle.compare.leaf_comparison import against_reference
from eqfuzz.oracle.compare.oracles import judge_compiled
from eqfuzz.oracle.compare.verdict import Verdict, VerdictKind
from eqfuzz.oracle.observe.observation import CallObservation, Observation, Raised
from eqfuzz.oracle.observe.observer import observe
from eqfuzz.oracle.reference.error_bound import reference
from eqfuzz.oracle.reference.reference import leaf_reference
from eqfuzz.oracle.thresholds import THRESHOLDS
from eqfuzz.program.call import Call


def draw(*shape, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).standard_normal(shape)).float()


def chain(x, y):
    z = torch.softmax(x @ y, -1)
    z = (z.exp() + x.sigmoid()).log1p() * 1.7
    return (z - z.mean(1, keepdim=True)) / (z.std() + 0.1) + 3


def cells(function, *args, samples=THRESHOLDS.samples[0]):
    calls = [Call(args, {})]
    return observe(lambda: function, calls), reference(lambda: function, calls, samples=samples)


def with_output(observation, value, position=0, group="outputs"):
    changed = copy.copy(observation)
    call = copy.copy(observation.calls[0])
    leaves = list(getattr(call, group))
    leaves[position] = (leaves[position][0], value)
    setattr(call, group, leaves)
    changed.calls = [call, *observation.calls[1:]]
    return changed


@given(
    st.integers(0, 63),
    st.sampled_from([1e-2, 1e-3, 1e-4, 1e-5]),
    st.booleans(),
    st.sampled_from(["times", "zero", "nan"]),
)
@settings(max_examples=40, deadline=None)
def test_planted_errors_in_one_element_are_found(place, relative, up, how):
    eager, known = cells(chain, draw(8, 8), draw(8, 8, seed=1))
    value = eager.calls[0].outputs[0][1].clone()
    factor = {"times": 1 + relative * (1 if up else -1), "zero": 0.0, "nan": float("nan")}[how]
    value.view(-1)[place] *= factor
    verdict = judge_compiled(eager, with_output(eager, value), known)
    assert verdict.kind is VerdictKind.WRONG_RESULT, verdict.message
    assert verdict.evidence is not None
    assert verdict.evidence.index == (place // 8, place % 8)
    assert verdict.evidence.wrong_elements == 1
    assert repr(Verdict.from_json(verdict.to_json())) == repr(verdict)  # NaN equals nothing


@given(st.integers(0, 2**31))
@example(2567213)
@settings(max_examples=15, deadline=None)
def test_legal_reorderings_agree(seed):
    """Under as many noisy runs as a claim needs: under fewer, one element in some ten thousand lies outside."""

    x, y = draw(6, 40, seed=seed), draw(40, 7, seed=seed + 1)

    def program(x, y):
        return x.sum(1), x @ y, x.cumsum(1), x.var(1), (x * 1.1 + x.sin()).exp(), x.prod(1)

    def reordered(x, y):
        wide = x.double()
        parts = [x[:, start::4].sum(1) for start in (3, 1, 2, 0)]
        product = sum(x[:, k, None] * y[None, k] for k in reversed(range(40)))
        centred = x - x.mean(1, keepdim=True)
        fused = (wide * float(np.float32(1.1)) + x.sin().double()).float().exp()
        halves = x[:, :20].prod(1) * x[:, 20:].prod(1)
        return sum(parts), product, wide.cumsum(1).float(), centred.square().sum(1) / 39, fused, halves

    eager, known = cells(program, x, y, samples=THRESHOLDS.samples[-1])
    verdict = judge_compiled(eager, observe(lambda: reordered, [Call((x, y), {})]), known)
    assert verdict.kind is VerdictKind.AGREE, verdict.message


def test_exact_results_admit_no_tolerance():
    eager, known = cells(lambda x: (x.t(), x.sum(0).argmax(), x.relu()), draw(5, 5))
    value = eager.calls[0].outputs[0][1]
    moved = value + value.abs() * 2**-23
    assert judge_compiled(eager, with_output(eager, moved), known).kind is VerdictKind.WRONG_RESULT
    index = eager.calls[0].outputs[1][1]
    assert judge_compiled(eager, with_output(eager, (index + 1) % 5, 1), known).kind is VerdictKind.WRONG_RESULT
    signs = eager.calls[0].outputs[2][1] * -1.0 * -1.0
    signs[signs == 0] = -0.0
    assert judge_compiled(eager, with_output(eager, signs, 2), known).kind is VerdictKind.AGREE


def test_more_accurate_than_eager_is_no_bug():
    def program(x):
        return (x + 1e4) - 1e4

    eager, known = cells(program, draw(50))
    clean = known.calls[0].outputs[0][1].value.float()
    assert judge_compiled(eager, with_output(eager, clean), known).kind is VerdictKind.AGREE


def test_unstable_results_are_inconclusive_beyond_the_bound_only():
    eager, known = cells(lambda x: (x / x * 3).floor() - 2 + 0 * x, draw(50).abs() + 0.5)
    value = eager.calls[0].outputs[0][1]
    assert judge_compiled(eager, with_output(eager, value - 1), known).kind is VerdictKind.AGREE
    assert judge_compiled(eager, with_output(eager, value + 8), known).kind is VerdictKind.INCONCLUSIVE


def test_unstable_results_like_nothing_that_rounding_gives_are_wrong():
    eager, known = cells(lambda x: (x / x * 3).floor() - 2 + 0 * x, draw(50).abs() + 0.5)
    value = eager.calls[0].outputs[0][1]
    assert judge_compiled(eager, with_output(eager, value + 1000), known).kind is VerdictKind.WRONG_RESULT
    assert judge_compiled(eager, with_output(eager, value / 0), known).kind is VerdictKind.WRONG_RESULT


def test_one_element_that_strays_alone_is_wrong_and_many_are_rounding():
    eager, known = cells(lambda x: x.exp() * 3, draw(50))
    value = eager.calls[0].outputs[0][1]
    bound = known.calls[0].outputs[0][1].bound
    strayed = (value.double() + 3 * bound).float()
    alone = value.clone()
    alone[7] = strayed[7]
    assert judge_compiled(eager, with_output(eager, alone), known).kind is VerdictKind.WRONG_RESULT
    assert judge_compiled(eager, with_output(eager, strayed), known).kind is VerdictKind.AGREE


def test_strays_are_found_in_leaves_of_any_layout():
    eager, known = cells(lambda x: x.exp().t(), draw(5, 10))
    value = eager.calls[0].outputs[0][1].clone()
    value[3, 4] *= 1 + 1e-5
    assert judge_compiled(eager, with_output(eager, value), known).kind is VerdictKind.WRONG_RESULT


def test_gradients_through_a_maximum_are_stable():
    wanted = draw(4, 30).requires_grad_()
    for pick in (lambda x: x.amax(1), lambda x: torch.linalg.vector_norm(x, float("inf"), dim=1)):
        _, known = cells(lambda x, pick=pick: pick(x.exp()), wanted)
        gradient = known.calls[0].gradients[0][1]
        assert not bool(gradient.unstable.any())


@pytest.mark.parametrize(
    ("change", "word"),
    [
        (lambda v: v.double(), "dtype"),
        (lambda v: v[:, :3], "shape"),
        (lambda v: v.t().contiguous().t(), "stride"),
        (lambda v: v.clone().requires_grad_(), "requires_grad"),
    ],
)
def test_metadata(change, word):
    eager, known = cells(lambda x: x.exp(), draw(4, 4))
    verdict = judge_compiled(eager, with_output(eager, change(eager.calls[0].outputs[0][1])), known)
    assert verdict.kind is VerdictKind.WRONG_METADATA
    assert word in verdict.message
    assert "output" in verdict.message


def test_strides_of_dimensions_of_size_one_do_not_count():
    eager, known = cells(lambda x: x.exp(), draw(4, 1))
    value = eager.calls[0].outputs[0][1].as_strided((4, 1), (1, 77))
    assert judge_compiled(eager, with_output(eager, value), known).kind is VerdictKind.AGREE


def test_structure():
    first, known = cells(lambda x: (x, [x]), draw(2))
    second, _ = cells(lambda x: [x, [x]], draw(2))
    assert judge_compiled(first, second, known).kind is VerdictKind.WRONG_METADATA


def test_side_effects_and_gradients():
    def program(x, w):
        x.mul_(2)
        return (x * w).exp()

    eager, known = cells(program, draw(3), draw(3, seed=1).requires_grad_())
    kept = eager.calls[0].inputs_after[0][1]
    verdict = judge_compiled(eager, with_output(eager, kept / 2, 0, "inputs_after"), known)
    assert verdict.kind is VerdictKind.WRONG_SIDE_EFFECT
    assert "args[0]" in verdict.message
    gradient = eager.calls[0].gradients[0][1]
    verdict = judge_compiled(eager, with_output(eager, gradient * 1.001, 0, "gradients"), known)
    assert verdict.kind is VerdictKind.WRONG_GRADIENT
    assert "gradient of args[1]" in verdict.message
    assert judge_compiled(eager, with_output(eager, None, 0, "gradients"), known).kind is not VerdictKind.AGREE


def test_no_gradient_and_zero_gradient_are_one():
    eager, known = cells(lambda x, y: x.exp(), draw(3).requires_grad_(), draw(3).requires_grad_())
    assert eager.calls[0].gradients[1][1] is None
    same = with_output(eager, torch.zeros(3), 1, "gradients")
    assert judge_compiled(eager, same, known).kind is VerdictKind.AGREE


def test_the_gravest_difference_is_said_first():
    eager, known = cells(lambda x, w: (x * w).exp(), draw(3), draw(3).requires_grad_())
    both = with_output(eager, eager.calls[0].gradients[0][1] * 2, 0, "gradients")
    both = with_output(both, (eager.calls[0].outputs[0][1] * 2).detach().requires_grad_())
    assert judge_compiled(eager, both, known).kind is VerdictKind.WRONG_RESULT


def raising(type_="RuntimeError", origin="program", **more):
    return Observation([CallObservation(raised=Raised(type_, "no", origin, **more))])


FINE = Observation([CallObservation()])


@pytest.mark.parametrize(
    ("eager", "compiled", "kind"),
    [
        (FINE, raising(), VerdictKind.EXCEPTION_MISMATCH),
        (raising(), FINE, VerdictKind.EXCEPTION_MISMATCH),
        (FINE, raising(origin="compiler"), VerdictKind.COMPILER_CRASH),
        (FINE, raising(origin="unsupported"), VerdictKind.UNSUPPORTED),
        (FINE, raising(origin="compiler", out_of_memory=True), VerdictKind.OUT_OF_MEMORY),
        (raising("IndexError"), raising("RuntimeError"), VerdictKind.AGREE),
        (raising("IndexError", by_statement=True), raising("RuntimeError"), VerdictKind.EXCEPTION_MISMATCH),
        (raising("IndexError", by_statement=True), raising("IndexError"), VerdictKind.AGREE),
        (raising("IndexError", by_statement=True), raising("Unsupported", "unsupported"), VerdictKind.UNSUPPORTED),
        (raising(), raising(origin="compiler"), VerdictKind.AGREE),
    ],
)
def test_exceptions(eager, compiled, kind):
    assert judge_compiled(eager, compiled, None).kind is kind


def test_without_a_reference_a_difference_is_inconclusive():
    eager, known = cells(lambda x: x.exp(), draw(4))
    off = with_output(eager, eager.calls[0].outputs[0][1] * 2)
    assert judge_compiled(eager, eager, None).kind is VerdictKind.AGREE
    assert judge_compiled(eager, off, None).kind is VerdictKind.INCONCLUSIVE
    steered, why = cells(lambda x: x.exp() * (2 if (x / x).sum().item() > 4 else 1), draw(4))
    assert why.data_dependent
    assert (
        judge_compiled(steered, with_output(steered, steered.calls[0].outputs[0][1] * 2), why).kind
        is VerdictKind.INCONCLUSIVE
    )
    assert known.data_dependent == ""


def test_nan_and_inf_classes():
    x = torch.tensor([float("nan"), 1.0, 100.0, -1.0])
    eager, known = cells(lambda x: x.exp() / 2 + x.log(), x)
    assert judge_compiled(eager, eager, known).kind is VerdictKind.AGREE
    for place, wrong in ((0, 1.0), (1, float("nan")), (2, 3e38), (3, 0.0), (2, float("-inf"))):
        value = eager.calls[0].outputs[0][1].clone()
        value[place] = wrong
        assert judge_compiled(eager, with_output(eager, value), known).kind is VerdictKind.WRONG_RESULT, (place, wrong)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_types(dtype):
    x, y = draw(8, 9).to(dtype), draw(8, 9, seed=1).to(dtype)

    def program(x, y):
        return torch.softmax((x * y + x.sigmoid()) * 1.3, -1)

    eager, known = cells(program, x, y)
    fused = program(x.float(), y.float()).to(dtype)
    assert judge_compiled(eager, with_output(eager, fused), known).kind is VerdictKind.AGREE
    off = eager.calls[0].outputs[0][1].clone()
    off[2, 3] *= 1.5
    assert judge_compiled(eager, with_output(eager, off), known).kind is VerdictKind.WRONG_RESULT


def test_gradients_of_a_rewrite_count_only_where_its_rules_promise_them():
    x = draw(6, 6).requires_grad_()
    original, known = cells(lambda x: x.exp() * 1, x)
    cut, cut_known = cells(lambda x: x.exp().detach() + 0 * x, x)
    assert judge_rewrite(original, cut, known, cut_known, "bitwise").kind is VerdictKind.SUSPECT_RULE
    assert judge_rewrite(original, cut, known, cut_known, "bitwise", gradients=False).kind is VerdictKind.AGREE


def test_rewrites():
    x = draw(6, 60)
    original, known = cells(lambda x: (x.exp().sum(1), x.t()), x)
    wrong, wrong_known = cells(lambda x: (x.exp().sum(1) * 1.0001, x.t()), x)
    reordered, reordered_known = cells(lambda x: (x.exp().flip(1).cumsum(1)[:, -1], x.t()), x)
    assert judge_rewrite(original, original, known, known, "bitwise").kind is VerdictKind.AGREE
    assert judge_rewrite(original, wrong, known, wrong_known, "bitwise").kind is VerdictKind.SUSPECT_RULE
    assert judge_rewrite(original, wrong, known, wrong_known, "real").kind is VerdictKind.SUSPECT_RULE
    assert judge_rewrite(original, reordered, known, reordered_known, "real").kind is VerdictKind.AGREE
    assert judge_rewrite(original, wrong, known, None, "real").kind is VerdictKind.INCONCLUSIVE
    with pytest.raises(ValueError, match="exactness"):
        judge_rewrite(original, original, known, known, "roughly")


def test_a_bitwise_rewrite_keeps_the_sign_of_zero():
    x = torch.tensor([0.0, -0.0, 1.0])
    first, known = cells(lambda x: x, x)
    second, other = cells(lambda x: x + 0.0, x)
    assert judge_rewrite(first, second, known, other, "bitwise").kind is VerdictKind.SUSPECT_RULE
    assert judge_rewrite(first, second, known, other, "ulp").kind is VerdictKind.AGREE


def test_a_rewrite_that_raises_is_suspect():
    verdict = judge_rewrite(FINE, raising("TypeError"), None, None, "bitwise")
    assert verdict.kind is VerdictKind.SUSPECT_RULE
    assert "TypeError" in verdict.message


def test_two_eager_runs():
    noisy = iter(range(10))
    first, second = (observe(lambda: lambda x: x + next(noisy), [Call((draw(2),), {})]) for _ in range(2))
    assert judge_self(first, first).kind is VerdictKind.AGREE
    verdict = judge_self(first, second)
    assert verdict.kind is VerdictKind.INVALID_SEED
    assert verdict.message.startswith("non-deterministic: ")
    assert judge_self(FINE, raising()).kind is VerdictKind.INVALID_SEED


def test_numpy_results_are_compared():
    eager, known = cells(lambda x: x.exp().numpy(), draw(4))
    value = eager.calls[0].outputs[0][1]
    near, far = np.nextafter(value, np.float32(9)), value * np.float32(1.01)
    assert judge_compiled(eager, with_output(eager, near), known).kind is VerdictKind.AGREE
    assert judge_compiled(eager, with_output(eager, far), known).kind is VerdictKind.WRONG_RESULT
    assert judge_compiled(eager, with_output(eager, value.astype("f8")), known).kind is VerdictKind.WRONG_METADATA


def test_where_the_measured_run_is_another_computation_eager_counts():
    """Autograd has formulas of its own for what is watched, as for the complex ``pinv`` (pytorch #197084)."""
    eager, watched = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([1.0, 2.0, 30.0])
    noise = torch.linspace(0.0, 2e-7, 9, dtype=torch.float64)[:, None]
    known = leaf_reference(watched.double() * (1 + noise), torch.float32)
    agrees = against_reference(eager, watched, known, "")
    assert agrees is None or not agrees.wrong
    known = dataclasses.replace(known, rerun=watched)
    found = against_reference(eager, watched, known, "")
    assert found is not None
    assert (found.wrong, found.index, found.reference) == (1, (2,), 3.0)
    assert against_reference(eager, eager * (1 + 2e-7), known, "") is None
    rounded = dataclasses.replace(known, rerun=watched * (1 + 2e-7))
    assert against_reference(watched, watched * (1 - 2e-7), rounded, "") is None
