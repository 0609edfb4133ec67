"""Verdicts: planted errors are detected, legal differences are not, and every kind has the right cause."""

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
def test_planted_errors_in_one_element_are_detected(place, relative, up, how):
    eager, measured = cells(chain, draw(8, 8), draw(8, 8, seed=1))
    value = eager.calls[0].outputs[0][1].clone()
    factor = {"times": 1 + relative * (1 if up else -1), "zero": 0.0, "nan": float("nan")}[how]
    value.view(-1)[place] *= factor
    verdict = judge_compiled(eager, with_output(eager, value), measured)
    assert verdict.kind is VerdictKind.WRONG_RESULT, verdict.message
    assert verdict.evidence is not None
    assert verdict.evidence.index == (place // 8, place % 8)
    assert verdict.evidence.wrong_elements == 1
    assert repr(Verdict.from_json(verdict.to_json())) == repr(verdict)  # NaN equals nothing


@given(st.integers(0, 2**31))
@example(2567213)
@settings(max_examples=15, deadline=None)
def test_legal_reorderings_agree(seed):
    """With as many noisy runs as a claim needs; with fewer, one element in some ten thousand is beyond its bound."""

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

    eager, measured = cells(program, x, y, samples=THRESHOLDS.samples[-1])
    verdict = judge_compiled(eager, observe(lambda: reordered, [Call((x, y), {})]), measured)
    assert verdict.kind is VerdictKind.AGREE, verdict.message


def test_exact_results_admit_no_tolerance():
    eager, measured = cells(lambda x: (x.t(), x.sum(0).argmax(), x.relu()), draw(5, 5))
    value = eager.calls[0].outputs[0][1]
    moved = value + value.abs() * 2**-23
    assert judge_compiled(eager, with_output(eager, moved), measured).kind is VerdictKind.WRONG_RESULT
    index = eager.calls[0].outputs[1][1]
    assert judge_compiled(eager, with_output(eager, (index + 1) % 5, 1), measured).kind is VerdictKind.WRONG_RESULT
    signs = eager.calls[0].outputs[2][1] * -1.0 * -1.0
    signs[signs == 0] = -0.0
    assert judge_compiled(eager, with_output(eager, signs, 2), measured).kind is VerdictKind.AGREE


def test_result_more_accurate_than_eager_agrees():
    def program(x):
        return (x + 1e4) - 1e4

    eager, measured = cells(program, draw(50))
    clean = measured.calls[0].outputs[0][1].value.float()
    assert judge_compiled(eager, with_output(eager, clean), measured).kind is VerdictKind.AGREE


def test_unstable_results_are_inconclusive_beyond_the_bound_only():
    eager, measured = cells(lambda x: (x / x * 3).floor() - 2 + 0 * x, draw(50).abs() + 0.5)
    value = eager.calls[0].outputs[0][1]
    assert judge_compiled(eager, with_output(eager, value - 1), measured).kind is VerdictKind.AGREE
    assert judge_compiled(eager, with_output(eager, value + 8), measured).kind is VerdictKind.INCONCLUSIVE


def test_unstable_results_far_beyond_rounding_are_wrong():
    eager, measured = cells(lambda x: (x / x * 3).floor() - 2 + 0 * x, draw(50).abs() + 0.5)
    value = eager.calls[0].outputs[0][1]
    assert judge_compiled(eager, with_output(eager, value + 1000), measured).kind is VerdictKind.WRONG_RESULT
    assert judge_compiled(eager, with_output(eager, value / 0), measured).kind is VerdictKind.WRONG_RESULT


def test_single_outlier_is_wrong_and_many_equal_deviations_are_rounding():
    eager, measured = cells(lambda x: x.exp() * 3, draw(50))
    value = eager.calls[0].outputs[0][1]
    bound = measured.calls[0].outputs[0][1].bound
    all_off = (value.double() + 3 * bound).float()
    one_off = value.clone()
    one_off[7] = all_off[7]
    assert judge_compiled(eager, with_output(eager, one_off), measured).kind is VerdictKind.WRONG_RESULT
    assert judge_compiled(eager, with_output(eager, all_off), measured).kind is VerdictKind.AGREE


def test_outliers_are_detected_in_leaves_of_any_layout():
    eager, measured = cells(lambda x: x.exp().t(), draw(5, 10))
    value = eager.calls[0].outputs[0][1].clone()
    value[3, 4] *= 1 + 1e-5
    assert judge_compiled(eager, with_output(eager, value), measured).kind is VerdictKind.WRONG_RESULT


def test_gradients_through_a_maximum_are_stable():
    wanted = draw(4, 30).requires_grad_()
    for pick in (lambda x: x.amax(1), lambda x: torch.linalg.vector_norm(x, float("inf"), dim=1)):
        _, measured = cells(lambda x, pick=pick: pick(x.exp()), wanted)
        gradient = measured.calls[0].gradients[0][1]
        assert not bool(gradient.unstable.any())


@pytest.mark.parametrize(
    "operator", [torch.linalg.pinv, torch.linalg.inv, torch.linalg.matrix_exp], ids=lambda operator: operator.__name__
)
def test_small_numbers_beside_large_ones_are_rounded_by_the_size_of_the_matrix(operator):
    # Nearly equal singular values: of their vectors, another rounding gives quite another basis.
    factor = 0.1 * torch.from_numpy(np.random.default_rng(0).random((4, 4))).float()
    eager, measured = cells(lambda x: operator(x @ x.mT + 3 * torch.eye(4)), factor)
    matrix = factor @ factor.mT + 3 * torch.eye(4)
    for seed in range(100):
        up = torch.from_numpy(np.random.default_rng(seed).random((4, 4)) < 0.5)
        rounded = torch.nextafter(matrix, torch.where(up, 9.0, -9.0))
        verdict = judge_compiled(eager, with_output(eager, operator(rounded)), measured)
        assert verdict.kind is VerdictKind.AGREE, verdict.message


@pytest.mark.parametrize(
    ("change", "word"),
    [
        (lambda v: v.double(), "dtype"),
        (lambda v: v[:, :3], "shape"),
        (lambda v: v.t().contiguous().t(), "stride"),
        (lambda v: v.clone().requires_grad_(), "requires_grad"),
    ],
)
def test_other_dtype_shape_strides_or_requires_grad_is_wrong_metadata(change, word):
    eager, measured = cells(lambda x: x.exp(), draw(4, 4))
    verdict = judge_compiled(eager, with_output(eager, change(eager.calls[0].outputs[0][1])), measured)
    assert verdict.kind is VerdictKind.WRONG_METADATA
    assert word in verdict.message
    assert "output" in verdict.message


def test_strides_of_dimensions_of_size_one_do_not_count():
    eager, measured = cells(lambda x: x.exp(), draw(4, 1))
    value = eager.calls[0].outputs[0][1].as_strided((4, 1), (1, 77))
    assert judge_compiled(eager, with_output(eager, value), measured).kind is VerdictKind.AGREE


def test_other_container_types_are_wrong_metadata():
    first, measured = cells(lambda x: (x, [x]), draw(2))
    second, _ = cells(lambda x: [x, [x]], draw(2))
    assert judge_compiled(first, second, measured).kind is VerdictKind.WRONG_METADATA


def test_wrong_side_effect_and_wrong_gradient_have_their_kinds():
    def program(x, w):
        x.mul_(2)
        return (x * w).exp()

    eager, measured = cells(program, draw(3), draw(3, seed=1).requires_grad_())
    after = eager.calls[0].inputs_after[0][1]
    verdict = judge_compiled(eager, with_output(eager, after / 2, 0, "inputs_after"), measured)
    assert verdict.kind is VerdictKind.WRONG_SIDE_EFFECT
    assert "args[0]" in verdict.message
    gradient = eager.calls[0].gradients[0][1]
    verdict = judge_compiled(eager, with_output(eager, gradient * 1.001, 0, "gradients"), measured)
    assert verdict.kind is VerdictKind.WRONG_GRADIENT
    assert "gradient of args[1]" in verdict.message
    assert judge_compiled(eager, with_output(eager, None, 0, "gradients"), measured).kind is not VerdictKind.AGREE


def test_missing_gradient_equals_zero_gradient():
    eager, measured = cells(lambda x, y: x.exp(), draw(3).requires_grad_(), draw(3).requires_grad_())
    assert eager.calls[0].gradients[1][1] is None
    same = with_output(eager, torch.zeros(3), 1, "gradients")
    assert judge_compiled(eager, same, measured).kind is VerdictKind.AGREE


def test_gravest_difference_is_reported():
    eager, measured = cells(lambda x, w: (x * w).exp(), draw(3), draw(3).requires_grad_())
    both = with_output(eager, eager.calls[0].gradients[0][1] * 2, 0, "gradients")
    both = with_output(both, (eager.calls[0].outputs[0][1] * 2).detach().requires_grad_())
    assert judge_compiled(eager, both, measured).kind is VerdictKind.WRONG_RESULT


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
def test_exceptions_of_both_sides_decide_the_verdict(eager, compiled, kind):
    assert judge_compiled(eager, compiled, None).kind is kind


def test_without_a_reference_a_difference_is_inconclusive():
    eager, measured = cells(lambda x: x.exp(), draw(4))
    off = with_output(eager, eager.calls[0].outputs[0][1] * 2)
    assert judge_compiled(eager, eager, None).kind is VerdictKind.AGREE
    assert judge_compiled(eager, off, None).kind is VerdictKind.INCONCLUSIVE
    branching, why = cells(lambda x: x.exp() * (2 if (x / x).sum().item() > 4 else 1), draw(4))
    assert why.data_dependent
    assert (
        judge_compiled(branching, with_output(branching, branching.calls[0].outputs[0][1] * 2), why).kind
        is VerdictKind.INCONCLUSIVE
    )
    assert measured.data_dependent == ""


def test_nan_or_infinity_on_one_side_only_is_wrong():
    x = torch.tensor([float("nan"), 1.0, 100.0, -1.0])
    eager, measured = cells(lambda x: x.exp() / 2 + x.log(), x)
    assert judge_compiled(eager, eager, measured).kind is VerdictKind.AGREE
    for place, wrong in ((0, 1.0), (1, float("nan")), (2, 3e38), (3, 0.0), (2, float("-inf"))):
        value = eager.calls[0].outputs[0][1].clone()
        value[place] = wrong
        assert judge_compiled(eager, with_output(eager, value), measured).kind is VerdictKind.WRONG_RESULT, (
            place,
            wrong,
        )


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_types_may_be_computed_in_float32(dtype):
    x, y = draw(8, 9).to(dtype), draw(8, 9, seed=1).to(dtype)

    def program(x, y):
        return torch.softmax((x * y + x.sigmoid()) * 1.3, -1)

    eager, measured = cells(program, x, y)
    fused = program(x.float(), y.float()).to(dtype)
    assert judge_compiled(eager, with_output(eager, fused), measured).kind is VerdictKind.AGREE
    off = eager.calls[0].outputs[0][1].clone()
    off[2, 3] *= 1.5
    assert judge_compiled(eager, with_output(eager, off), measured).kind is VerdictKind.WRONG_RESULT


def test_gradients_of_a_rewrite_are_compared_only_if_its_rules_keep_them():
    x = draw(6, 6).requires_grad_()
    original, measured = cells(lambda x: x.exp() * 1, x)
    cut, cut_measured = cells(lambda x: x.exp().detach() + 0 * x, x)
    assert judge_rewrite(original, cut, measured, cut_measured, "bitwise").kind is VerdictKind.SUSPECT_RULE
    assert judge_rewrite(original, cut, measured, cut_measured, "bitwise", gradients=False).kind is VerdictKind.AGREE


def test_rewrite_is_judged_by_its_exactness():
    x = draw(6, 60)
    original, measured = cells(lambda x: (x.exp().sum(1), x.t()), x)
    wrong, wrong_measured = cells(lambda x: (x.exp().sum(1) * 1.0001, x.t()), x)
    reordered, reordered_measured = cells(lambda x: (x.exp().flip(1).cumsum(1)[:, -1], x.t()), x)
    assert judge_rewrite(original, original, measured, measured, "bitwise").kind is VerdictKind.AGREE
    assert judge_rewrite(original, wrong, measured, wrong_measured, "bitwise").kind is VerdictKind.SUSPECT_RULE
    assert judge_rewrite(original, wrong, measured, wrong_measured, "real").kind is VerdictKind.SUSPECT_RULE
    assert judge_rewrite(original, reordered, measured, reordered_measured, "real").kind is VerdictKind.AGREE
    assert judge_rewrite(original, wrong, measured, None, "real").kind is VerdictKind.INCONCLUSIVE
    with pytest.raises(ValueError, match="exactness"):
        judge_rewrite(original, original, measured, measured, "roughly")


def test_a_bitwise_rewrite_keeps_the_sign_of_zero():
    x = torch.tensor([0.0, -0.0, 1.0])
    first, measured = cells(lambda x: x, x)
    second, other = cells(lambda x: x + 0.0, x)
    assert judge_rewrite(first, second, measured, other, "bitwise").kind is VerdictKind.SUSPECT_RULE
    assert judge_rewrite(first, second, measured, other, "ulp").kind is VerdictKind.AGREE


def test_a_rewrite_that_raises_is_suspect():
    verdict = judge_rewrite(FINE, raising("TypeError"), None, None, "bitwise")
    assert verdict.kind is VerdictKind.SUSPECT_RULE
    assert "TypeError" in verdict.message


def test_eager_runs_that_differ_make_the_seed_invalid():
    noisy = iter(range(10))
    first, second = (observe(lambda: lambda x: x + next(noisy), [Call((draw(2),), {})]) for _ in range(2))
    assert judge_self(first, first).kind is VerdictKind.AGREE
    verdict = judge_self(first, second)
    assert verdict.kind is VerdictKind.INVALID_SEED
    assert verdict.message.startswith("non-deterministic: ")
    assert judge_self(FINE, raising()).kind is VerdictKind.INVALID_SEED


def test_numpy_results_are_compared():
    eager, measured = cells(lambda x: x.exp().numpy(), draw(4))
    value = eager.calls[0].outputs[0][1]
    near, far = np.nextafter(value, np.float32(9)), value * np.float32(1.01)
    assert judge_compiled(eager, with_output(eager, near), measured).kind is VerdictKind.AGREE
    assert judge_compiled(eager, with_output(eager, far), measured).kind is VerdictKind.WRONG_RESULT
    assert judge_compiled(eager, with_output(eager, value.astype("f8")), measured).kind is VerdictKind.WRONG_METADATA


def test_compiled_is_held_to_eager_where_the_reference_run_computes_something_else():
    """Autograd uses other formulas under a dispatch mode, as for the complex ``pinv`` (pytorch #197084)."""
    eager, watched = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([1.0, 2.0, 30.0])
    noise = torch.linspace(0.0, 2e-7, 9, dtype=torch.float64)[:, None]
    measured = leaf_reference(watched.double() * (1 + noise), torch.float32)
    agrees = against_reference(eager, watched, measured, "")
    assert agrees is None or not agrees.wrong
    measured = dataclasses.replace(measured, rerun=watched)
    difference = against_reference(eager, watched, measured, "")
    assert difference is not None
    assert (difference.wrong, difference.index, difference.reference) == (1, (2,), 3.0)
    assert against_reference(eager, eager * (1 + 2e-7), measured, "") is None
    rounded = dataclasses.replace(measured, rerun=watched * (1 + 2e-7))
    assert against_reference(watched, watched * (1 - 2e-7), rounded, "") is None
