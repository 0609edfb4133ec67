"""Activations, constants and conversions that Inductor's graph passes match."""

from __future__ import annotations

from eqfuzz.generate.dag.catalogue.operator import Needs, operator
from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.spec import FLOATS, SIGNED, WIDE, Range, Spec, UnsatisfiableSpec, nonempty
from eqfuzz.generate.dag.values.value_bounds import bounded, longest, moderate


@operator(
    "pattern: gelu",
    "0.5 * {0} * (1 + torch.tanh(0.7978845608 * ({0} + 0.044715 * torch.pow({0}, 3))))",
    "{0} * 0.5 * (1.0 + torch.erf({0} * 0.70710678118))",
    "{0} * torch.sigmoid(1.702 * {0})",
    dtypes=FLOATS,
    name_hint="active",
)
def gelu(draw: Draw, out: Spec) -> Needs:
    """GELU written out, as mkldnn_fusion.py matches it after a linear layer."""
    return Needs(moderate(out), values=lambda x: Range(min(x.low, -0.5), max(x.high, 0.5)))


@operator(
    "pattern: gated activation",
    "F.silu({0}) * {1}",
    "{0} * torch.sigmoid({0}) * {1}",
    "F.gelu({0}) * {1}",
    "{0} * F.hardtanh({0} + 3, 0.0, 6.0) / 6 * {1}",
    dtypes=FLOATS,
    name_hint="gated",
)
def gated(draw: Draw, out: Spec) -> Needs:
    """SwiGLU and similar, and hard swish written out, as mkldnn_fusion.py matches it."""
    spread = Range(-8.0, 8.0)
    return Needs(moderate(out), out.free(), values=lambda x, y: spread * y)


@operator(
    "pattern: clamp by hand",
    "torch.clamp_max(torch.clamp_min({0}, {low}), {high})",
    "torch.minimum(torch.maximum({0}, torch.tensor({low}, dtype=torch.{dtype})), torch.tensor({high}, "
    "dtype=torch.{dtype}))",
    "torch.where({0} > 0, {0}, {0} * 0.5).clamp({low}, {high})",
    "torch.nan_to_num(F.relu({0})).clamp({low}, {high})",
    dtypes=FLOATS,
    exact=True,
)
def clamp_by_hand(draw: Draw, out: Spec) -> Needs:
    """Clamps, leaky ReLU and ReLU with nan_to_num: relu_nan_to_num in pre_grad.py, mkldnn_fusion.py."""
    low, high = draw.choice(((-1.0, 1.0), (0.0, 6.0), (-2.0, 3.0)))
    values = lambda x: Range(low, high, x.exact, x.nonfinite)  # noqa: E731
    return Needs(out.free(), values=values, low=low, high=high, dtype=out.dtype)


@operator(
    "pattern: optimizer step",
    "{0} - 0.1 * ({1} * 0.9 + {0} * 0.1) / (({2} * 0.99 + {0} * {0} * 0.01).sqrt() + 0.1)",
    "torch.addcdiv({0}, {1}.lerp({0}, 0.1), torch.addcmul({2} * 0.99, {0}, {0}, value=0.01).sqrt() + 0.1, value=-0.1)",
    "torch._foreach_add([{0}], torch._foreach_div([{1}], torch._foreach_sqrt([{2}])), alpha=-0.1)[0]",
    dtypes=WIDE,
)
def optimizer_step(draw: Draw, out: Spec) -> Needs:
    """A step of Adam: written out, with fused operators, or with lists of tensors."""
    return Needs(moderate(out), moderate(out), out.positive(), values=bounded(32.0))


@operator(
    "pattern: rotary embedding",
    "{0} * {1}.cos() + torch.cat([-{0}[..., {half}:], {0}[..., :{half}]], dim=-1) * {1}.sin()",
    "torch.cat([{0}[..., :{half}] * {1}.cos()[..., :{half}] - {0}[..., {half}:] * {1}.sin()[..., {half}:], "
    "{0}[..., {half}:] * {1}.cos()[..., {half}:] + {0}[..., :{half}] * {1}.sin()[..., :{half}]], -1)",
    "torch.stack([-{0}[..., 1::2], {0}[..., ::2]], dim=-1).flatten(-2) * {1}.sin() + {0} * {1}.cos()",
    dtypes=FLOATS,
    rank=(2, 4),
    name_hint="rotated",
)
def rotary(draw: Draw, out: Spec) -> Needs:
    """Rotary position embedding: joined slices, which Inductor fuses into one kernel."""
    n = out.shape[-1]
    if n % 2:
        raise UnsatisfiableSpec("no halves")
    angles = out.of(*out.shape[-2:]).within(-8.0, 8.0)
    return Needs(out.free(), angles, values=lambda x, a: x * Range(-2.0, 2.0), half=n // 2)


@operator(
    "pattern: neutral elements",
    "({0} + torch.zeros({size}, dtype=torch.{dtype})) * torch.ones({size}, dtype=torch.{dtype})",
    "{0} * 1 + 0",
    "torch.zeros_like({0}) + {0} - torch.full({size}, 0, dtype=torch.{dtype})",
    "{0} * torch.full_like({0}, 1) + torch.zeros((), dtype=torch.{dtype})",
    "({0} ** 1).repeat({ones}) + 0",
    dtypes=FLOATS + SIGNED,
    exact=True,
)
def neutral(draw: Draw, out: Spec) -> Needs:
    """Adding nothing and multiplying by one: remove_no_ops in joint_graph.py, noop passes in post_grad.py."""
    ones = ", ".join("1" for _ in out.shape) or "()"
    return Needs(out.free(), size=out.shape, dtype=out.dtype, ones=ones)


@operator(
    "pattern: constant folding",
    "{0} * torch.full({size}, {a}, dtype=torch.{dtype}).add({b}).expand({size})",
    "(torch.ones({size}, dtype=torch.{dtype}) * {a} + {b}) * {0}",
    "{0} * (torch.full({size}, {a}, dtype=torch.{dtype}) + torch.full((), {b}, dtype=torch.{dtype}))",
    dtypes=FLOATS + SIGNED,
    exact=True,
)
def constant_folding(draw: Draw, out: Spec) -> Needs:
    """Arithmetic on constant tensors: constant_fold_uniform_value in joint_graph.py."""
    a, b = draw.integer(1, 3), draw.integer(0, 2)
    number_range = Range(a + b, a + b, exact=True)
    return Needs(out.free(), values=lambda x: x * number_range, size=out.shape, a=a, b=b, dtype=out.dtype)


@operator(
    "pattern: cumsum of a constant",
    "{0} + torch.ones({size}, dtype=torch.{dtype}).cumsum({dim})",
    "{0} + torch.full({size}, {value}, dtype=torch.{dtype}).cumsum({dim}) - 1",
    "{0} + torch.cumsum(torch.full({size}, {value}, dtype=torch.{dtype}), dim={dim})",
    "{0} + torch.ones_like({0}).cumsum({dim})",
    dtypes=("float32", "float64", "int64"),
    rank=(1, 4),
    exact=True,
)
def cumsum_of_constant(draw: Draw, out: Spec) -> Needs:
    """The running sum of a constant tensor: pointless_cumsum_replacement in post_grad.py."""
    dim = draw.axis(out)
    most = 2 * longest(out.shape[dim])
    number_range = Range(-1, most, exact=True)
    value = draw.integer(1, 2)
    return Needs(out.free(), values=lambda x: x + number_range, size=out.shape, dim=dim, value=value, dtype=out.dtype)


@operator(
    "pattern: widening conversions",
    "{0}.to(torch.float64).to(torch.{dtype})",
    "{0}.double().add(0).to(torch.{dtype})",
    "{0}.to(torch.float64).to(torch.float64).to(torch.{dtype})",
    "({0}.double() * 2).to(torch.{dtype}) * 0.5",
    dtypes=("float32", "float16", "bfloat16"),
    exact=True,
)
def widening(draw: Draw, out: Spec) -> Needs:
    """To a wider dtype and back: pointless_convert in joint_graph.py."""
    return Needs(out.free(), values=lambda x: x, dtype=out.dtype)


@operator(
    "pattern: narrowing conversions",
    "{0}.to(torch.float16).to(torch.{dtype})",
    "{0}.half().to(torch.bfloat16).to(torch.{dtype})",
    "{0}.to(torch.int32).to(torch.float32).to(torch.int64).to(torch.{dtype})",
    "{0}.to(torch.float16).to(torch.float32).to(torch.float16).to(torch.{dtype})",
    "{0}.to(torch.int8).to(torch.{dtype})",
    dtypes=WIDE,
    exact=True,
    grad=False,
)
def narrowing(draw: Draw, out: Spec) -> Needs:
    """To a narrower dtype and back, of exact values: conversions that pointless_convert must not drop."""
    values = lambda x: Range(-121, 121, exact=True)  # noqa: E731
    return Needs(out.free().exactly().within(-120, 120), values=values, dtype=out.dtype)


@operator(
    "pattern: quantise and dequantise",
    "(torch.clamp(torch.round({0} * 4), -128, 127).to(torch.int8).to({0}.dtype) - {zero}) * 0.25",
    "((({0} / 0.25).round() + {zero}).clamp(0, 255).to(torch.uint8).to({0}.dtype) - {zero}) * 0.25",
    "torch.fake_quantize_per_tensor_affine({0}, 0.25, {zero}, 0, 255)",
    dtypes=("float32",),
    exact=True,
    grad=False,
)
def quantise(draw: Draw, out: Spec) -> Needs:
    """To eight bits and back, of exact values: patterns of quantization.py and canonicalize_quant_mapping."""
    values = lambda x: Range(-64, 64, exact=True)  # noqa: E731
    return Needs(out.free().exactly().within(-16.0, 16.0), values=values, zero=draw.choice((0, 10, 64)))


@operator(
    "pattern: batched pointwise",
    "torch.stack([torch.tanh({0}), torch.tanh({1}), torch.tanh({2})]).sum(0)",
    "torch.cat([torch.sigmoid({0}), torch.sigmoid({1}), torch.sigmoid({2})]).reshape({three}).sum(0)",
    "sum(torch.unbind(torch.stack([torch.relu({0}), torch.relu({1}), torch.relu({2})]).clamp(max=2)))",
    "torch.stack([torch.nan_to_num(t) for t in ({0}, {1}, {2})]).clamp(-1, 1).sum(0)",
    "torch.stack([{0}.clamp(-1, 1), {1}.clamp(-1, 1), {2}.clamp(-1, 1)], dim=-1).sum(-1)",
    dtypes=WIDE,
    rank=(1, 4),
)
def batched_pointwise(draw: Draw, out: Spec) -> Needs:
    """The same function of several tensors: batch_tanh, batch_relu and others in group_batch_fusion.py."""
    operand = nonempty(out)
    return Needs(operand, operand, operand, values=bounded(6.0), three=(3, *out.shape))
