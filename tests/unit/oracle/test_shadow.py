"""References: shadows follow every kind of aliasing; exact and unstable masks are right."""

import functools
import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

from eqfuzz.oracle.observe.gradients import cotangent
from eqfuzz.oracle.observe.observer import observe
from eqfuzz.oracle.reference.error_bound import reference
from eqfuzz.program.call import Call


def reference_of(function, *args):
    measured = reference(lambda: function, [Call(args, {})])
    assert measured.calls[0].raised is None, measured.calls[0].raised
    return measured


def outputs(function, *args):
    return [leaf for _, leaf in reference_of(function, *args).calls[0].outputs]


def draw(*shape, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).standard_normal(shape)).float()


def in_place_views(x, y):
    x = x.clone()
    x[1:3].mul_(2.5).add_(y[0])
    flat = x.view(-1)
    flat[::3] = flat[::3].sin()
    x.t().sub_(y.t())
    return x, flat


def expanded(x, y):
    wide = x[:1].expand(4, x.shape[1])
    z = wide * y[:4]
    z[:, 1] += wide[:, 2]
    return z, wide.cumsum(1), x.diagonal().exp()


def aliases(x, y):
    buffer = torch.zeros(x.shape, dtype=x.dtype)
    row = buffer[2]
    torch.mul(x, y, out=buffer)
    row.div_(3)
    pieces = buffer.chunk(2, 0)
    pieces[0].copy_(pieces[1].flip(0))
    return buffer, torch.cat(pieces).unfold(1, 2, 1).sum(-1)


def modules(x, y):
    return (
        F.layer_norm(x, (x.shape[1],)),
        F.softmax(x @ y.t(), -1),
        F.conv1d(x[None], y[None].permute(1, 0, 2)[:, :, :3].expand(-1, x.shape[0], -1)),
    )


def lists(x, y):
    total = torch._foreach_add([x, y], [y, x])
    torch._foreach_mul_(total, 1.5)
    return torch.stack(total), torch.einsum("ij,kj->ik", x, y)


@pytest.mark.parametrize("program", [in_place_views, expanded, aliases, modules, lists])
def test_clean_shadow_equals_the_program_in_float64(program):
    x, y = draw(6, 6), draw(6, 6, seed=1)
    wide = program(x.double(), y.double())
    for leaf, expected, real in zip(outputs(program, x, y), wide, program(x, y), strict=True):
        torch.testing.assert_close(leaf.value, expected, rtol=1e-12, atol=1e-12)
        distance = (real.double() - leaf.value).abs()
        assert bool((distance <= 4 * leaf.bound).all()), "eager float32 must lie within its own bound"
        assert float((leaf.bound / leaf.value.abs().clamp_min(1e-3)).max()) < 1e-3, "the bound must say something"


def test_inputs_written_by_the_program_have_shadows():
    def f(x):
        x.mul_(1.1).exp_()
        return

    x = draw(5)
    after = dict(reference_of(f, x).calls[0].inputs_after)["args[0]"]
    torch.testing.assert_close(after.value, (x.double() * float(np.float32(1.1))).exp(), rtol=1e-12, atol=0)
    assert not after.exact.any()


def test_batch_norm_statistics_have_shadows():
    measured = reference(lambda: torch.nn.BatchNorm1d(3), [Call((draw(8, 3),), {})])
    state = dict(measured.calls[0].state_after)
    assert torch.allclose(state["model.running_mean"].value, 0.1 * draw(8, 3).double().mean(0), rtol=1e-12, atol=1e-15)
    assert state["model.num_batches_tracked"].bound is None


@given(st.integers(0, 2**31), st.sampled_from([torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.bool]))
@settings(max_examples=15, deadline=None)
def test_data_movement_is_exact(seed, dtype):
    x = (draw(3, 4, seed=seed) * 3).to(dtype)
    measured = outputs(
        lambda x: (
            x.t().contiguous().flip(0),
            torch.cat([x, x[:1]]),
            x[x > 0],
            torch.relu(x) if x.dtype.is_floating_point else x,
        ),
        x,
    )
    assert all(leaf.bound is None for leaf in measured)


@given(st.integers(0, 2**31))
@settings(max_examples=10, deadline=None)
def test_integers_are_exact(seed):
    x = torch.from_numpy(np.random.default_rng(seed).integers(-9, 9, (4, 5)))
    assert all(
        leaf.bound is None for leaf in outputs(lambda x: (x @ x.t(), x.sum(1), x.cumsum(0) // 3, x.argmax(1)), x)
    )


def test_argmax_and_comparisons_near_a_tie_are_unstable():
    def f(x):
        y = x.sin() / 3
        z = torch.stack([y * 3 / 3, y])
        return z.argmax(0), y * 3 / 3 > y, x.sin().argmax(0), x.sin() > 0

    x = draw(64)
    ties, compared, clear, positive = outputs(f, x)
    assert ties.unstable.float().mean() > 0.8
    assert compared.unstable.float().mean() > 0.8
    assert clear.bound is None
    assert positive.bound is None


def test_jumps_are_detected_even_if_all_samples_are_on_one_side():
    def f(x):
        return (x / x).floor(), torch.relu(x.exp() - x.exp() * 1), (x.exp() / x.exp()).clamp(max=1.0)

    floor, relu, clamp = outputs(f, draw(3000).abs() + 0.1)
    assert not floor.exact.any()
    assert bool(floor.unstable.all())
    assert not relu.exact.any()
    assert not clamp.exact.any()


def test_saturation_is_exact():
    (leaf,) = outputs(lambda x: (x.exp() + 5).clamp(max=1.0), draw(9))
    assert bool(leaf.exact.all())
    assert bool((leaf.value == 1).all())


def test_control_flow_on_rounded_numbers_is_data_dependent():
    def branches(x):
        y = (x / x * 3) - 3
        return x + 1 if (y.sum() * 1e9).sin() > 0.1 else x - 1

    def does_not(x):
        return x + 1 if x.sum() > -1e6 else x - 1

    def counts(x):
        return x[: int((x / x).sum().item())]

    def python_branch(x):
        return x + 1 if 2 * (x / x).sum().item() - 100 > 0.0 else x

    x = draw(50)
    assert reference_of(branches, x).data_dependent
    assert reference_of(counts, x).data_dependent
    assert reference_of(python_branch, x).data_dependent
    assert not reference_of(lambda x: x + 1 if 2 * x.sum().item() - 100 > 0.0 else x, x).data_dependent
    assert not reference_of(does_not, x).data_dependent


def test_extracted_floats_carry_their_noise():
    def f(x):
        total = x.exp().sum().item()
        return x * total, torch.tensor(total), total, total - 1.0, math.sqrt(total)

    scaled, lifted, plain, derived, untracked = outputs(f, draw(100))
    assert not scaled.exact.any()
    assert not lifted.exact.any()
    assert plain.bound is not None
    assert plain.bound > 0
    assert derived.bound is not None
    assert derived.bound > 0
    assert not derived.unknown
    assert untracked.unknown


def test_numbers_that_leave_torch_are_unknown():
    def whole(x):
        return torch.from_numpy((x * 8).round().to(torch.int64).numpy() // 3) * 2

    x = draw(4)
    (leaf,) = outputs(lambda x: x.exp().numpy(), x)
    assert not leaf.unknown
    assert bool((leaf.bound > 0).all())
    assert reference_of(lambda x: torch.tensor(x.exp().tolist()), x).unknown
    assert not reference_of(whole, x).unknown


def test_printing_does_not_lose_track():
    assert not reference_of(lambda x: (str(x.exp()), x.exp())[1], draw(4)).unknown


def test_reading_bits_is_unknown():
    (leaf,) = outputs(lambda x: x.exp().view(torch.int32), draw(4))
    assert leaf.unknown
    assert reference_of(lambda x: x.exp().view(torch.int32) + 1, draw(4)).unknown


def test_nan_and_inf_inputs_are_stable():
    x = torch.tensor([float("nan"), float("inf"), -float("inf"), 0.0, 88.0, 89.0])
    leaf, bounded = outputs(lambda x: (x.exp(), x.nan_to_num()), x)
    assert bool(leaf.value[0].isnan())
    assert leaf.value[1] == float("inf")
    assert leaf.value[5] == float("inf")
    assert not leaf.unstable.any()
    assert torch.equal(bounded.value, x.nan_to_num())


def test_overflow_between_half_operators_may_or_may_not_happen():
    half = torch.full((4,), 300.0, dtype=torch.float16)
    single = torch.full((4,), 1e30)
    (leaf,) = outputs(lambda x: x * x / 300, half)
    assert bool(leaf.unstable.all())
    (leaf,) = outputs(lambda x: x * x / 1e30, single)
    assert not leaf.unstable.any()
    assert bool(leaf.value.isinf().all())


@pytest.mark.parametrize("shape", [(0,), (0, 3), (), (1,), (3, 0, 2)])
def test_empty_and_zero_dimensional_tensors_have_shadows(shape):
    for leaf in outputs(lambda x: (x.exp() + 0.1, x.sum() * 2, x.sort(-1).values if x.dim() else x), torch.ones(shape)):
        assert leaf.value.shape == (leaf.bound.shape if leaf.bound is not None else leaf.value.shape)


def test_random_draws_are_replayed():
    def f(x):
        return F.dropout(x, 0.5) * 1.5, torch.rand(4), torch.bernoulli(x.sigmoid())

    measured = reference_of(f, draw(40))
    leaf = measured.calls[0].outputs[0][1]
    torch.manual_seed(20250101)
    torch.testing.assert_close(leaf.value.float(), F.dropout(draw(40), 0.5) * 1.5)
    assert bool(leaf.exact[leaf.value == 0].all() or (leaf.bound[leaf.value == 0] < 1e-36).all())
    assert not measured.unknown


def test_random_numbers_do_not_depend_on_the_seed_of_the_noise():
    calls = [Call((draw(4),), {})]
    (eager,) = observe(lambda: F.dropout, calls).calls
    for seed in (0, 1):
        (measured,) = reference(lambda: F.dropout, calls, seed=seed).calls
        close = torch.isclose(measured.outputs[0][1].value.float(), eager.outputs[0][1])
        assert bool(close.all())


@pytest.mark.parametrize("half", [torch.float16, torch.bfloat16])
def test_rounding_to_half_types_may_be_omitted(half):
    x = draw(6)
    (measured,) = outputs(lambda x: x.to(half).float(), x)
    assert bool(((x - measured.value).abs() <= 2 * measured.bound).all())
    assert float(measured.bound.max()) < 4 * torch.finfo(half).eps


@pytest.mark.parametrize("wider", [torch.bfloat16, torch.float32])
def test_overflow_of_a_cast_to_half_may_be_omitted(wider):
    (measured,) = outputs(lambda x: x.half().to(wider), torch.tensor([70000.0, 1.0]))
    assert measured.unstable.tolist() == [True, False]


def test_cond_is_shadowed():
    measured = reference_of(lambda x: torch.cond(x.sum() > -1e9, torch.sin, torch.cos, (x,)), draw(4))
    torch.testing.assert_close(measured.calls[0].outputs[0][1].value, draw(4).double().sin())
    assert not measured.unknown
    assert not measured.data_dependent


def test_while_loop_is_shadowed():
    def program(x):
        operator = torch._higher_order_ops.while_loop
        return operator(lambda i, v: i < 3, lambda i, v: (i + 1, v.sin()), (torch.tensor(0), x.exp()))[1]

    measured = reference_of(program, draw(4))
    torch.testing.assert_close(measured.calls[0].outputs[0][1].value, draw(4).double().exp().sin().sin().sin())
    assert not measured.unknown
    assert not measured.data_dependent


def test_gradients_have_bounds():
    x = draw(4, 5).requires_grad_()
    measured = reference_of(lambda x: (x.exp().sum(1) * x[:, 0]).tanh(), x)
    leaf = measured.calls[0].gradients[0][1]
    wide = draw(4, 5).double().requires_grad_()
    out = (wide.exp().sum(1) * wide[:, 0]).tanh()
    along = cotangent(out.float()).double()
    torch.testing.assert_close(leaf.value, torch.autograd.grad(out, wide, along)[0], rtol=1e-10, atol=1e-12)


def test_custom_operators_run_in_their_own_dtype():
    @torch.library.custom_op("judge_tests::only_float32", mutates_args=())
    def only_float32(x: torch.Tensor) -> torch.Tensor:
        if x.dtype is not torch.float32:
            raise TypeError("float32 only")
        return x.sin()

    measured = reference_of(lambda x: only_float32(x.exp()), draw(5))
    leaf = measured.calls[0].outputs[0][1]
    torch.testing.assert_close(leaf.value.float(), draw(5).exp().sin())
    assert bool((leaf.bound > 0).all())


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_probabilities_stay_between_0_and_1_under_noise(dtype):
    share = torch.tensor([0.0, 0.2, 0.5, 1.0], dtype=dtype)
    x, weight = torch.tensor([0.0, 0.1, 0.11, 0.5], dtype=dtype), torch.tensor([1.0, 2.0, 3.0, 4.0], dtype=dtype)
    measured = reference_of(lambda x: F.binary_cross_entropy((x * 3).clamp(0, 1), share, weight, reduction="none"), x)
    ((_, leaf),) = measured.calls[0].outputs
    exact = F.binary_cross_entropy((x.double() * 3).clamp(0, 1), share.double(), weight.double(), reduction="none")
    assert not measured.unknown
    assert not leaf.exact[1:3].any()
    assert (leaf.bound[1:3] > 0).all()
    assert torch.allclose(leaf.value, exact, rtol=1e-6)


def test_flags_among_operands_stay_between_0_and_1():
    x, target = torch.linspace(-1, 1, 8, requires_grad=True), torch.tensor([3, 2, -1, 0, 0, 0, 0, 0])

    def gradient(x):
        (grad,) = torch.autograd.grad(F.multilabel_margin_loss(x * 3, target), x)
        return grad

    measured = reference_of(gradient, x)
    assert not measured.unknown


@pytest.mark.parametrize("size", [64, 441, 4000])
def test_equal_numbers_may_be_summed_sequentially(size):
    """Every addition rounds the same way: the errors of a plain loop do not cancel as those of different numbers do."""
    x = torch.full((1, 1, size), 0.4)
    plain = functools.reduce(torch.add, x.flatten()) / size
    (leaf,) = outputs(lambda x: x - x.mean(), x)
    assert ((x - plain).abs() <= 4 * leaf.bound).all()


@pytest.mark.parametrize("size", [51, 500])
def test_few_different_numbers_may_be_summed_sequentially(size):
    """Multiples of a step plus one fraction: additions to a large partial sum round that fraction the same way."""
    x = torch.tensor(np.random.default_rng(0).integers(-3, 4, (size, 4000)) * 3.0, dtype=torch.float32)
    plain = functools.reduce(torch.add, x - 0.602393627166748) / size
    (leaf,) = outputs(lambda x: (x - 0.602393627166748).mean(0), x)
    assert ((plain - leaf.value).abs() <= 4 * leaf.bound).all()


@pytest.mark.parametrize("window", [torch.hann_window, torch.blackman_window, torch.bartlett_window])
def test_end_of_a_window_has_a_bound_for_cancellation(window):
    (leaf,) = outputs(lambda x: window(9, periodic=False) + 0 * x, torch.ones(9))
    assert leaf.bound[-1] > 2**-27


def test_operator_that_fails_on_rounded_numbers_is_unknown():
    @torch.library.custom_op("eqfuzz_tests::only_half", mutates_args=())
    def only_half(x: torch.Tensor) -> torch.Tensor:
        if not bool((x == 0.5).all()):
            raise RuntimeError("another number")
        return x + 1

    measured = reference_of(lambda x: only_half(x.sin().asin()), torch.full((3,), 0.5))
    assert "only_half" in measured.unknown


def test_equal_seeds_give_equal_references():
    first, second = (outputs(in_place_views, draw(6, 6), draw(6, 6, seed=1)) for _ in range(2))
    for one, other in zip(first, second, strict=True):
        assert torch.equal(one.bound, other.bound)
        assert torch.equal(one.value, other.value)


def test_conjugates_and_complex_views_have_shadows():
    def f(x):
        z = torch.complex(x.exp(), x)
        z.real.mul_(2)
        return (z.conj() * z).real, z.conj().imag.abs(), torch.view_as_real(z.conj().resolve_conj())

    x = draw(7)
    for leaf, expected in zip(outputs(f, x), f(x.double()), strict=True):
        torch.testing.assert_close(leaf.value, expected, rtol=1e-12, atol=1e-12)


def norms():
    return {
        "layer": (torch.nn.LayerNorm(6), (4, 6)),
        "layer2": (torch.nn.LayerNorm((3, 6)), (4, 3, 6)),
        "group": (torch.nn.GroupNorm(2, 4), (3, 4, 5)),
        "batch": (torch.nn.BatchNorm1d(4), (8, 4)),
        "batch2": (torch.nn.BatchNorm2d(3), (4, 3, 5, 5)),
        "softmax": (torch.nn.Softmax(-1), (4, 6)),
        "logsoftmax": (torch.nn.LogSoftmax(0), (4, 6)),
        "rms": (torch.nn.RMSNorm(6), (4, 6)),
    }


@pytest.mark.parametrize("name", norms())
def test_normalisation_keeps_its_clean_value_and_has_noise_in_its_sums(name):
    module, shape = norms()[name]
    with torch.no_grad():
        for number, parameter in enumerate(module.parameters()):
            parameter.copy_(draw(*parameter.shape, seed=number + 5))
    x = (draw(*shape) + 30).requires_grad_()
    calls = [Call((x,), {})]
    measured = reference(lambda: module, calls).calls[0]
    wide = norms()[name][0].double()
    wide.load_state_dict({key: value.double() for key, value in norms()[name][0].state_dict().items()})
    with torch.no_grad():
        for number, parameter in enumerate(wide.parameters()):
            parameter.copy_(draw(*parameter.shape, seed=number + 5))
    high = x.detach().double().requires_grad_()
    out = wide(high)
    torch.testing.assert_close(measured.outputs[0][1].value, out.detach(), rtol=1e-8, atol=1e-8)
    along = cotangent(out.float()).double()
    gradients = [leaf for _, leaf in measured.gradients]
    expected = torch.autograd.grad(out, [high, *wide.parameters()], along)
    for leaf, value in zip(gradients, expected, strict=True):
        torch.testing.assert_close(leaf.value, value, rtol=1e-6, atol=1e-7)
    real = observe(lambda: module, calls).calls[0]
    for leaf, (_, value) in zip(gradients, real.gradients, strict=True):
        assert bool(((value.double() - leaf.value).abs() <= 4 * leaf.bound).all())


@pytest.mark.parametrize(
    "norm",
    [
        lambda x: F.group_norm(x, 5, eps=1e-3),
        lambda x: F.layer_norm(x, (5,), eps=1e-3),
        lambda x: F.batch_norm(x, None, None, training=True, eps=1e-3),
    ],
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_gradients_of_normalized_equal_numbers_may_have_no_variance(norm, dtype):
    x = torch.full((4, 5, 5), -1e30, dtype=dtype).requires_grad_()
    ((_, gradient),) = reference_of(norm, x).calls[0].gradients
    zeros = torch.zeros(4, 5, 5, dtype=torch.float64).requires_grad_()
    out = norm(zeros)
    (exact,) = torch.autograd.grad(out, zeros, cotangent(out.detach()))
    assert bool(((gradient.value - exact).abs() <= 4 * gradient.bound).all())


def test_the_gradient_of_a_bias_before_batch_norm_is_zero_within_its_bound():
    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            torch.manual_seed(1)
            self.conv, self.norm = torch.nn.Conv2d(3, 8, 3), torch.nn.BatchNorm2d(8)

        def forward(self, x):
            return F.gelu(self.norm(self.conv(x))).sum((2, 3))

    calls = [Call((draw(4, 3, 18, 18),), {})]
    leaf = dict(reference(Model, calls).calls[0].gradients)["gradient of model.conv.bias"]
    real = dict(observe(Model, calls).calls[0].gradients)["gradient of model.conv.bias"]
    assert bool((real.double().abs() <= 4 * leaf.bound).all())
    assert float(leaf.value.abs().max()) < 1e-9


def test_arguments_do_not_come_from_numpy():
    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.ones(4))

        def forward(self, x, y):
            exported = x.exp().numpy()
            return y * self.weight, exported

    measured = reference(Model, [Call((draw(4), draw(4, seed=1)), {}), Call((draw(4), draw(4, seed=1)), {})])
    assert not measured.unknown


@pytest.mark.filterwarnings("ignore:Sparse:UserWarning")
def test_rounded_numbers_keep_their_bound_through_sparse_forms():
    x = draw(4, 6).abs()
    dense = outputs(lambda x: x.exp(), x)[0]
    forms = [
        lambda x: x.exp().to_sparse().to_dense(),
        lambda x: x.exp().to_sparse_csr().to_dense(),
        lambda x: x.exp().to_sparse(1).coalesce().to_dense(),
        lambda x: x.exp().to_sparse(),
    ]
    for form in forms:
        measured = outputs(form, x)[0]
        assert torch.equal(measured.value, dense.value)
        assert not measured.exact.any()
        assert 0.5 < measured.bound.max() / dense.bound.max() < 2


def test_gradients_have_a_bound_through_sparse_forms():
    x = draw(4, 6).requires_grad_()
    reached = reference_of(lambda x: (x.relu().to_sparse().to_dense() * 3).exp(), x)
    plain = reference_of(lambda x: (x.relu() * 3).exp(), x)
    assert not reached.unknown
    ((_, leaf),), ((_, expected),) = reached.calls[0].gradients, plain.calls[0].gradients
    assert torch.equal(leaf.value, expected.value)
    assert 0.3 < leaf.bound.max() / expected.bound.max() < 3


@pytest.mark.filterwarnings("ignore:Sparse:UserWarning")
def test_arithmetic_on_sparse_tensors_is_unknown():
    x = draw(4, 6)
    assert "_sparse_addmm" in reference_of(lambda x: torch.sparse.mm(x.to_sparse(), x.t()), x).unknown
    assert "sparse" in reference_of(lambda x: torch.sparse.sum(x.exp().to_sparse()), x).unknown
    assert not reference_of(lambda x: (x > 0).to_sparse().to_dense(), x).unknown


def test_forward_derivatives_have_a_reference():
    """Autograd's zero tensors without memory occur there: reading their storage would crash the process."""

    def slope(x):
        return torch.func.jvp(lambda t: t.sin() * x, (x,), (x,))[1].exp()

    x = draw(5)
    (leaf,) = outputs(slope, x)
    assert not leaf.unknown
    assert bool((leaf.bound > 0).all())
    assert float((leaf.value - slope(x).double()).abs().max()) < 1e-6


def through_dlpack(x):
    rounded = torch.special.i0(x)[:, 1]
    return torch.from_dlpack(rounded.detach()), torch.from_dlpack(rounded.detach()).t() * 2


def written_through_dlpack(x):
    plain = x.clone()
    shared = torch.from_dlpack(plain[1:])
    plain.exp_()
    shared[0].mul_(3)
    return shared, plain


@pytest.mark.parametrize("function", [through_dlpack, written_through_dlpack])
def test_memory_shared_outside_of_operators_keeps_its_bound(function):
    x = draw(4, 3).double()
    measured = reference_of(function, x)
    assert not measured.unknown
    for leaf, expected in zip(outputs(function, x), function(x), strict=True):
        assert not leaf.unknown
        assert bool((leaf.bound[leaf.value == expected] > 0).all())
        assert bool(((leaf.value - expected).abs() <= leaf.bound).all())


def test_rounded_numbers_read_as_another_dtype_outside_of_operators_are_unknown():
    def program(x):
        rounded = x.exp()
        return torch.from_dlpack(rounded.view(torch.int32)) + 1

    assert any(leaf.unknown for leaf in outputs(program, draw(4))) or reference_of(program, draw(4)).unknown


def test_result_that_is_written_to_an_operand_has_a_bound():
    def program(x, y):
        largest = x.sin()
        torch.maximum(largest, y.sin().abs(), out=largest)
        return largest * 1.5

    measured = reference_of(program, draw(12), draw(12, seed=1))
    ((_, leaf),) = measured.calls[0].outputs
    assert not measured.unknown
    assert float(leaf.bound.max()) < 1e-5
    torch.testing.assert_close(leaf.value.float(), program(draw(12), draw(12, seed=1)))
