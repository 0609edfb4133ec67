"""Expressions that Inductor's graph passes look for and rewrite; `fusion_products` has those with matrix products."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from eqfuzz.generate.dag.draw import Draw
from eqfuzz.generate.dag.operator import Needs, operator
from eqfuzz.generate.dag.spec import FLOATS, NUMBERS, SIGNED, WIDE, Dim, Range, Spec, Unfit, index


def bounded(most: float, least: float | None = None) -> Callable[..., Range]:
    """Values up to ``most`` (from ``least``, or from its negative), NaN where NaN goes in."""
    low = -most if least is None else least
    return lambda *ranges: Range(low, most, wild=any(r.wild for r in ranges))


def solid(out: Spec) -> Spec:
    """The same. Raises Unfit where it has no elements."""
    if out.numel == 0:
        raise Unfit("empty")
    return out.free()


def root(size: int) -> float:
    """A bound of normalised values over so many, whatever a changing size becomes."""
    return max(int(size), 17) ** 0.5 + 1


def _moderate(out: Spec) -> Spec:
    return solid(out).within(-8.0, 8.0)


# Normalisation and losses, written out


@operator(
    "pattern: layer norm",
    "({0} - {0}.mean(-1, keepdim=True)) / torch.sqrt({0}.var(-1, keepdim=True, unbiased=False) + 1e-3) * {1} + {2}",
    "({0} - {0}.mean(-1, keepdim=True)) * torch.rsqrt(({0} - {0}.mean(-1, keepdim=True)).pow(2).mean(-1, True) + 1e-3)"
    " * {1} + {2}",
    "F.layer_norm({0}, ({n},)) * {1} + {2}",
    dtypes=FLOATS,
    rank=(1, 5),
    noun="normed",
)
def layer_norm(draw: Draw, out: Spec) -> Needs:
    """Layer normalisation by hand: Inductor's scheduler fuses its reductions."""
    n = out.shape[-1]
    spread = bounded(root(n))
    return Needs(_moderate(out), out.of(n), out.of(n), values=lambda x, w, b: spread(x) * w + b, n=n)


@operator(
    "pattern: rms norm",
    "{0} * torch.rsqrt({0}.pow(2).mean(-1, keepdim=True) + 1e-3) * {1}",
    "{1} * ({0} / ({0}.square().mean(dim=-1, keepdim=True) + 1e-3).sqrt())",
    "({0}.float() * torch.rsqrt({0}.float().pow(2).mean(-1, keepdim=True) + 1e-3)).to({0}.dtype) * {1}",
    dtypes=("float32", "float16", "bfloat16"),
    rank=(1, 5),
    noun="normed",
)
def rms_norm(draw: Draw, out: Spec) -> Needs:
    """RMS normalisation by hand, at times in float32."""
    spread = bounded(root(out.shape[-1]))
    return Needs(_moderate(out), out.of(out.shape[-1]), values=lambda x, w: spread(x) * w)


@operator(
    "pattern: batch norm",
    "({0} - {0}.mean((0, 2, 3), keepdim=True)) / ({0}.var((0, 2, 3), keepdim=True, correction=0) + 1e-3).sqrt()",
    "({0} - torch.var_mean({0}, (0, 2, 3), keepdim=True, correction=0)[1]) * "
    "torch.rsqrt(torch.var_mean({0}, (0, 2, 3), keepdim=True, correction=0)[0] + 1e-3)",
    dtypes=WIDE,
    rank=(4, 4),
    noun="normed",
)
def batch_norm(draw: Draw, out: Spec) -> Needs:
    """Batch normalisation in training by hand: Welford reductions over several dimensions."""
    return Needs(_moderate(out), values=bounded(max(64.0, 4 * out.numel**0.5)))


@operator(
    "pattern: group norm",
    "F.layer_norm({0}.reshape({b}, {g}, {k}), ({k},)).reshape({size})",
    "F.group_norm({0}, {g})",
    dtypes=WIDE,
    rank=(3, 4),
    noun="normed",
)
def group_norm(draw: Draw, out: Spec) -> Needs:
    """Group normalisation as a layer norm of a reshaped tensor."""
    given = _moderate(out)
    b, c, *rest = out.shape
    each = 1
    for n in rest:
        each = each * n
    groups = draw.choice([g for g in (1, 2, 3, 4) if c % g == 0])
    k = c // groups * each
    if k * int(b) < 2 or k < 2:
        raise Unfit("nothing to normalise over")
    return Needs(given, values=bounded(root(k)), b=b, g=groups, k=k, size=out.shape)


@operator(
    "pattern: softmax",
    "torch.exp({0} - {0}.amax({dim}, keepdim=True)) / torch.exp({0} - {0}.amax({dim}, True)).sum({dim}, keepdim=True)",
    "({0} - {0}.max({dim}, keepdim=True).values).exp() / ({0} - {0}.max({dim}, True).values).exp().sum({dim}, True)",
    "torch.exp({0} - torch.logsumexp({0}, dim={dim}, keepdim=True))",
    dtypes=FLOATS,
    rank=(1, 5),
    noun="weights",
)
def softmax(draw: Draw, out: Spec) -> Needs:
    """Softmax by hand: prepare_softmax in post_grad.py makes it online."""
    return Needs(_moderate(out), values=bounded(1.2, 0.0), dim=draw.spelled(draw.axis(out), out.rank))


@operator(
    "pattern: scaled softmax",
    "torch.softmax({0} * {scale}, dim={dim})",
    "torch.softmax({0} / {scale}, {dim})",
    "torch.softmax({scale} * {0}, {dim}).to(torch.float64).to(torch.{dtype})",
    "(({0} * {scale}) - ({0} * {scale}).amax({dim}, keepdim=True)).exp()",
    dtypes=FLOATS,
    rank=(1, 5),
    noun="weights",
)
def scaled_softmax(draw: Draw, out: Spec) -> Needs:
    """Softmax of a scaled tensor: mul_softmax_pattern and div_softmax_pattern in joint_graph.py; signs matter."""
    scale = draw.choice((3.0, 0.125, -2.0, 0.5, 1.7))
    dim = draw.spelled(draw.axis(out), out.rank)
    return Needs(_moderate(out), values=bounded(1.2, 0.0), scale=scale, dim=dim, dtype=out.dtype)


@operator(
    "pattern: softmax scaled by a tensor",
    "torch.softmax({0} * {1}, dim=-1)",
    "torch.softmax({0} / {1}, dim=-1)",
    "F.log_softmax({0} / {1}, -1).exp()",
    dtypes=WIDE,
    rank=(2, 4),
    noun="weights",
)
def softmax_scaled_by_tensor(draw: Draw, out: Spec) -> Needs:
    """Softmax of a tensor scaled by one that broadcasts along its dimension: joint_graph.py."""
    scale = out.of(*out.shape[:-1], 1) if draw.chance(0.7) else out.of()
    return Needs(_moderate(out), scale.within(0.25, 4.0), values=bounded(1.2, 0.0))


@operator(
    "pattern: logsumexp",
    "torch.log(torch.exp({0} - {0}.amax(-1, keepdim=True)).sum(-1)) + {0}.amax(-1)",
    "torch.log({0}.exp().sum(dim=-1))",
    "{0}.max(-1).values + ({0} - {0}.max(-1, keepdim=True).values).exp().sum(-1).log()",
    dtypes=WIDE,
    rank=(0, 4),
)
def logsumexp(draw: Draw, out: Spec) -> Needs:
    """The logarithm of a sum of exponentials by hand."""
    return Needs(_moderate(out.of(*out.shape, draw.size())), values=lambda x: Range(x.low - 1, x.high + 6))


@operator(
    "pattern: cross entropy",
    "-F.log_softmax({0}, dim=-1).gather(-1, {1}.unsqueeze(-1)).squeeze(-1)",
    "torch.logsumexp({0}, -1) - torch.gather({0}, -1, {1}.unsqueeze(-1)).squeeze(-1)",
    "-(F.log_softmax({0}, dim=-1) * F.one_hot({1}, {n})).sum(-1)",
    dtypes=WIDE,
    rank=(1, 3),
    noun="loss",
)
def cross_entropy(draw: Draw, out: Spec) -> Needs:
    """Cross entropy by hand: the gather of a log-softmax, which post-grad passes fuse."""
    n = draw.integer(2, 12)
    return Needs(_moderate(out.of(*out.shape, n)), index(out.shape, n), values=bounded(24.0, -1.0), n=n)


@operator(
    "pattern: cosine similarity",
    "({0} * {1}).sum(-1) / (torch.sqrt(({0} ** 2).sum(-1) + 0.1) * torch.sqrt(({1} ** 2).sum(-1) + 0.1))",
    "torch.sum(({0} / ({0}.norm(dim=-1, keepdim=True) + 0.1)) * ({1} / ({1}.norm(dim=-1, keepdim=True) + 0.1)), -1)",
    dtypes=WIDE,
    rank=(0, 4),
)
def cosine(draw: Draw, out: Spec) -> Needs:
    """The cosine between rows by hand: three reductions over the same operands."""
    rows = out.of(*out.shape, draw.size())
    positive = rows.within(0.1, 8.0)
    return Needs(positive, _moderate(rows), values=bounded(1.1))


# Activations, written out


@operator(
    "pattern: gelu",
    "0.5 * {0} * (1 + torch.tanh(0.7978845608 * ({0} + 0.044715 * torch.pow({0}, 3))))",
    "{0} * 0.5 * (1.0 + torch.erf({0} * 0.70710678118))",
    "{0} * torch.sigmoid(1.702 * {0})",
    dtypes=FLOATS,
    noun="active",
)
def gelu(draw: Draw, out: Spec) -> Needs:
    """GELU by hand, as mkldnn_fusion.py matches it after a linear layer."""
    return Needs(_moderate(out), values=lambda x: Range(min(x.low, -0.5), max(x.high, 0.5)))


@operator(
    "pattern: gated activation",
    "F.silu({0}) * {1}",
    "{0} * torch.sigmoid({0}) * {1}",
    "F.gelu({0}) * {1}",
    "{0} * F.hardtanh({0} + 3, 0.0, 6.0) / 6 * {1}",
    dtypes=FLOATS,
    noun="gated",
)
def gated(draw: Draw, out: Spec) -> Needs:
    """SwiGLU and the like, and the hard swish that mkldnn_fusion.py matches by hand."""
    spread = Range(-8.0, 8.0)
    return Needs(_moderate(out), out.free(), values=lambda x, y: spread * y)


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
    values = lambda x: Range(low, high, x.exact, x.wild)  # noqa: E731
    return Needs(out.free(), values=values, low=low, high=high, dtype=out.dtype)


@operator(
    "pattern: optimizer step",
    "{0} - 0.1 * ({1} * 0.9 + {0} * 0.1) / (({2} * 0.99 + {0} * {0} * 0.01).sqrt() + 0.1)",
    "torch.addcdiv({0}, {1}.lerp({0}, 0.1), torch.addcmul({2} * 0.99, {0}, {0}, value=0.01).sqrt() + 0.1, value=-0.1)",
    "torch._foreach_add([{0}], torch._foreach_div([{1}], torch._foreach_sqrt([{2}])), alpha=-0.1)[0]",
    dtypes=WIDE,
)
def optimizer_step(draw: Draw, out: Spec) -> Needs:
    """A step of Adam, written out, with fused operators and with lists of tensors."""
    return Needs(_moderate(out), _moderate(out), out.positive(), values=bounded(32.0))


@operator(
    "pattern: rotary embedding",
    "{0} * {1}.cos() + torch.cat([-{0}[..., {half}:], {0}[..., :{half}]], dim=-1) * {1}.sin()",
    "torch.cat([{0}[..., :{half}] * {1}.cos()[..., :{half}] - {0}[..., {half}:] * {1}.sin()[..., {half}:], "
    "{0}[..., {half}:] * {1}.cos()[..., {half}:] + {0}[..., :{half}] * {1}.sin()[..., :{half}]], -1)",
    "torch.stack([-{0}[..., 1::2], {0}[..., ::2]], dim=-1).flatten(-2) * {1}.sin() + {0} * {1}.cos()",
    dtypes=FLOATS,
    rank=(2, 4),
    noun="rotated",
)
def rotary(draw: Draw, out: Spec) -> Needs:
    """Rotary position embedding: slices joined again, which Inductor makes one kernel of."""
    n = out.shape[-1]
    if n % 2:
        raise Unfit("no halves")
    angles = out.of(*out.shape[-2:]).within(-8.0, 8.0)
    return Needs(out.free(), angles, values=lambda x, a: x * Range(-2.0, 2.0), half=n // 2)


# Constants


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
    """Tensors of one value, calculated with: constant_fold_uniform_value in joint_graph.py."""
    a, b = draw.integer(1, 3), draw.integer(0, 2)
    said = Range(a + b, a + b, exact=True)
    return Needs(out.free(), values=lambda x: x * said, size=out.shape, a=a, b=b, dtype=out.dtype)


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
    """The running sum of one value: pointless_cumsum_replacement in post_grad.py."""
    dim = draw.axis(out)
    most = 2 * max(int(out.shape[dim]), 17)
    said = Range(-1, most, exact=True)
    value = draw.integer(1, 2)
    return Needs(out.free(), values=lambda x: x + said, size=out.shape, dim=dim, value=value, dtype=out.dtype)


@operator(
    "pattern: scatter upon a constant",
    "torch.full({size}, {value}, dtype=torch.{dtype}).scatter({dim}, {0}.unsqueeze({dim}), {put}) * {1}",
    "torch.zeros({size}, dtype=torch.{dtype}).scatter({dim}, {0}.unsqueeze({dim}), {put}) * {1}",
    "torch.zeros_like({1}).scatter_({dim}, {0}.unsqueeze({dim}), {put}) * {1}",
    dtypes=("float32", "float64", "int64"),
    rank=(2, 3),
    exact=True,
    noun="marked",
)
def scatter_upon_constant(draw: Draw, out: Spec) -> Needs:
    """One number scattered into a constant: scatter_upon_const_tensor in joint_graph.py."""
    dim = draw.axis(out)
    size = out.shape
    where = index(size[:dim] + size[dim + 1 :], size[dim])
    said = Range(0, 3, exact=True)
    params: dict[str, Any] = {
        "size": size,
        "dim": dim,
        "dtype": out.dtype,
        "value": draw.integer(0, 2),
        "put": draw.integer(1, 3),
    }
    return Needs(where, out.free(), values=lambda i, x: x * said, **params)


@operator(
    "pattern: one hot times matrix",
    "F.one_hot({0}, {n}).to(torch.{dtype}) @ {1}",
    "({0}.unsqueeze(-1) == torch.arange({n})).to(torch.{dtype}).matmul({1})",
    "torch.mm(torch.eye({n}, dtype=torch.{dtype})[{0}].reshape(-1, {n}), {1}).reshape({size})",
    dtypes=WIDE,
    rank=(2, 3),
    exact=True,
    noun="embedded",
)
def one_hot_matmul(draw: Draw, out: Spec) -> Needs:
    """Rows looked up through a product with a one-hot matrix, which could be an index."""
    n = draw.integer(2, 12)
    table = solid(out).of(n, out.shape[-1])
    values = lambda i, w: w.over(Range(0, 0, exact=True))  # noqa: E731
    return Needs(index(out.shape[:-1], n), table, values=values, n=n, dtype=out.dtype, size=out.shape)


@operator(
    "pattern: gather as where",
    "torch.where({0}.unsqueeze(-1) == torch.arange({n}), {1}, 0).sum(-1)",
    "({1} * ({0}.unsqueeze(-1) == torch.arange({n}))).sum(dim=-1)",
    "torch.gather({1}, -1, {0}.unsqueeze(-1)).squeeze(-1)",
    "torch.take_along_dim({1}, {0}.unsqueeze(-1), dim=-1)[..., 0].clone()",
    dtypes=("float32", "float64", "int64"),
    rank=(0, 3),
    exact=True,
    noun="chosen",
)
def gather_as_where(draw: Draw, out: Spec) -> Needs:
    """An element of each row through a comparison with its index, as partial reductions see it."""
    n = draw.integer(2, 12)
    given = solid(out).of(*out.shape, n)
    zero = Range(0, 0, exact=True)
    values = lambda i, x: Range(*(x.over(zero).low, x.over(zero).high), exact=x.exact)  # noqa: E731
    tame = given.within(-64.0, 64.0)
    return Needs(index(out.shape, n), tame, values=values, n=n)


# Views and conversions


@operator(
    "pattern: pairs of permutations",
    "{0}.permute({order}).permute({back})",
    "{0}.transpose({a}, {b}).transpose({a}, {b})",
    "{0}.transpose({a}, {b}).transpose({b}, {a}).view({size})",
    "{0}.transpose({a}, {b}).contiguous().transpose({a}, {b})",
    dtypes=NUMBERS,
    rank=(2, 5),
    exact=True,
    saves=False,
    view=True,
)
def permute_pair(draw: Draw, out: Spec) -> Needs:
    """Permuted and permuted back: pointless_permute_pair in joint_graph.py."""
    order = draw.order(out.rank)
    back = tuple(order.index(i) for i in range(out.rank))
    a, b = order[:2]
    return Needs(out.free().dense(), order=order, back=back, a=a, b=b, size=out.shape)


@operator(
    "pattern: pairs of views",
    "{0}.view(-1).view({size})",
    "{0}.reshape(-1).unsqueeze(0).view({size})",
    "{0}.view({size}).flatten().reshape({size})",
    "{0}.unsqueeze({dim}).squeeze({dim})",
    "{0}.unsqueeze(-1).expand({longer}).select(-1, 0)",
    dtypes=NUMBERS,
    rank=(1, 5),
    exact=True,
    saves=False,
    view=True,
)
def view_pair(draw: Draw, out: Spec) -> Needs:
    """Reshaped and reshaped back: pointless_view and pointless_view_pair in joint_graph.py."""
    return Needs(solid(out).dense(), size=out.shape, dim=draw.axis(out), longer=(*out.shape, 3))


@operator(
    "pattern: elements of a flat view",
    "{0}.view(-1)[{start}:{stop}:{step}]",
    "{0}.reshape(-1)[{start}:{stop}:{step}]",
    "{0}.flatten()[{start}:].narrow(0, 0, {length})[::{step}]",
    dtypes=NUMBERS,
    rank=(1, 1),
    exact=True,
    saves=False,
    view=True,
)
def flat_elements(draw: Draw, out: Spec) -> Needs:
    """A slice of a flattened tensor, which Inductor turns into index arithmetic."""
    n = out.shape[0]
    step, start = draw.integer(1, 3), draw.integer(0, 3)
    rows = draw.integer(1, 4)
    length = step * n
    columns = (start + length + rows - 1) // rows
    if columns == 0:
        raise Unfit("empty")
    return Needs(out.of(rows, columns).dense(), start=start, stop=start + length, step=step, length=length)


@operator(
    "pattern: reshape, permute, reshape",
    "{0}.reshape({before}).permute({order}).reshape({size})",
    "{0}.view({before}).permute({order}).contiguous().view({size})",
    "{0}.reshape({before}).permute({order}).clone().flatten().reshape({size})",
    dtypes=NUMBERS,
    rank=(1, 4),
    exact=True,
    saves=False,
    view=True,
)
def shuffle(draw: Draw, out: Spec) -> Needs:
    """Channel and pixel shuffles: a permutation between two reshapes."""
    solid(out)
    parts: list[int] = []
    for n in out.shape:
        factor = 1 if isinstance(n, Dim) else draw.choice([f for f in (1, 2, 3, 4) if n % f == 0])
        parts += [factor, n // factor] if factor > 1 else [n]
    order = draw.order(len(parts))
    before = [0] * len(parts)
    for place, part in zip(order, parts, strict=True):
        before[place] = part
    given = out.of(*before[:-2], before[-2] * before[-1]) if len(before) > 1 else out.of(*before)
    return Needs(given.dense(), before=tuple(before), order=order, size=out.shape)


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
    """To a narrower dtype and back, of exact values: a conversion that pointless_convert must not drop."""
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
    """To eight bits and back: what quantization.py and canonicalize_quant_mapping look for; of exact values."""
    values = lambda x: Range(-64, 64, exact=True)  # noqa: E731
    return Needs(out.free().exactly().within(-16.0, 16.0), values=values, zero=draw.choice((0, 10, 64)))


# Parts and joins


@operator(
    "pattern: split and cat",
    "torch.cat(torch.split({0}, {parts}, dim={dim}), dim={dim})",
    "torch.cat({0}.split({parts}, {dim})[::-1], dim={dim})",
    "torch.cat([torch.relu(part) for part in torch.split({0}, {parts}, {dim})], {dim})",
    "torch.cat([torch.split({0}, {parts}, {dim})[0], *torch.split({0}, {parts}, {dim})[1:]], {dim})",
    dtypes=FLOATS + SIGNED,
    rank=(1, 5),
    exact=True,
    noun="joined",
)
def split_cat(draw: Draw, out: Spec) -> Needs:
    """Parts joined again, at times in another order: merge_split_cat and simplify_split_cat in split_cat.py."""
    dim = draw.axis(out)
    parts = draw.split(out.shape[dim], draw.integer(2, 4))
    values = lambda x: x.over(Range(0, 0, exact=True))  # noqa: E731
    return Needs(out.free(), values=values, parts=parts, dim=dim)


@operator(
    "pattern: unbind and stack",
    "torch.stack(torch.unbind({0}, dim={dim}), dim={dim})",
    "torch.stack({0}.unbind({dim})[::-1], {dim})",
    "torch.cat([row.unsqueeze({dim}) for row in torch.unbind({0}, {dim})], {dim})",
    "torch.stack([torch.relu(row) for row in torch.unbind({0}, {dim})], {dim})",
    "torch.stack([row.squeeze({dim}) for row in torch.split({0}, 1, dim={dim})], dim={dim})",
    dtypes=FLOATS + SIGNED,
    rank=(1, 5),
    exact=True,
    noun="stacked",
)
def unbind_stack(draw: Draw, out: Spec) -> Needs:
    """Slices stacked again: merge_unbind_stack and merge_split_squeeze in split_cat.py."""
    dim = draw.axis(out)
    if int(out.shape[dim]) > 17 or out.shape[dim] == 0:
        raise Unfit("too many slices")
    values = lambda x: x.over(Range(0, 0, exact=True))  # noqa: E731
    return Needs(solid(out), values=values, dim=dim)


@operator(
    "pattern: cat of slices",
    "torch.cat([{0}[..., :{k}], {0}[..., {k}:]], dim=-1)",
    "torch.cat([{0}[..., {k}:], {0}[..., :{k}]], dim=-1)",
    "torch.cat([{0}.narrow(-1, 0, {k}), {0}.narrow(-1, {k}, {n} - {k}) * 2], -1)",
    "torch.cat([{0}, {0}[..., :{k}]], dim=-1)[..., :{n}].clone()",
    dtypes=FLOATS + SIGNED,
    rank=(1, 5),
    exact=True,
    saves=False,
    noun="joined",
)
def cat_of_slices(draw: Draw, out: Spec) -> Needs:
    """Slices joined again: cat_slice_cat in post_grad.py, merge_getitem_cat in split_cat.py."""
    n = out.shape[-1]
    k, _ = draw.split(n, 2)
    return Needs(out.free(), values=lambda x: x.over(x + x), k=k, n=n)


@operator(
    "pattern: slices of a cat",
    "torch.cat([{0}, {1}], dim={dim}).narrow({dim}, {start}, {n}).clone()",
    "torch.split(torch.cat([{0}, {1}], {dim}), {n}, {dim})[0].clone()",
    "torch.cat([{0}, {1}], {dim}).unflatten({dim}, (2, {n})).sum({dim})",
    "torch.cat([{0}, {1}], {dim}).chunk(2, {dim})[1] + {0}",
    dtypes=("float32", "float64", "int64"),
    rank=(1, 4),
    exact=True,
    saves=False,
)
def slices_of_cat(draw: Draw, out: Spec) -> Needs:
    """A join taken apart again: cat_splitwithsizes_replace in post_grad.py."""
    dim = draw.axis(out)
    n = out.shape[dim]
    start = 0 if isinstance(n, Dim) else draw.integer(0, n)
    values = lambda x, y: x.over(y, x + y)  # noqa: E731
    return Needs(solid(out), out.free(), values=values, dim=dim, n=n, start=start)


@operator(
    "pattern: cat of cats",
    "torch.cat([torch.cat([{0}, {1}], {dim}), {2}], {dim})",
    "torch.cat([{0}, torch.cat([{1}, {2}], {dim})], {dim})",
    "torch.cat([torch.tanh(torch.cat([{0}, {1}], {dim})), {2}], {dim})",
    "torch.relu(torch.cat([{0}, {1}, {2}], {dim}))",
    dtypes=WIDE,
    rank=(1, 4),
    noun="joined",
)
def cat_of_cats(draw: Draw, out: Spec) -> Needs:
    """Joins of joins: merge_concats_pass and sink_cat_after_pointwise in pre_grad.py."""
    dim = draw.axis(out)
    sizes = draw.split(out.shape[dim], 3)
    parts = [out.of(*out.shape[:dim], n, *out.shape[dim + 1 :]) for n in sizes]
    values = lambda *r: r[0].over(*r[1:], Range(-1, 1))  # noqa: E731
    return Needs(*parts, values=values, dim=dim)


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
    given = solid(out)
    return Needs(given, given, given, values=bounded(6.0), three=(3, *out.shape))


@operator(
    "pattern: batched layer norms",
    "torch.stack([F.layer_norm({0}, ({n},), {2}, {3}), F.layer_norm({1}, ({n},), {2}, {3})]).mean(0)",
    "F.layer_norm({0}, ({n},), {2}, {3}, 1e-3) + F.layer_norm({1}, ({n},), {3}, {2}, 1e-3)",
    dtypes=WIDE,
    rank=(2, 4),
    noun="normed",
)
def batched_layer_norm(draw: Draw, out: Spec) -> Needs:
    """Several layer norms alike: batch_layernorm in group_batch_fusion.py."""
    n = out.shape[-1]
    spread = bounded(root(n) * 2)
    values = lambda x, y, w, b: spread(x, y) * w.over(b) + w.over(b) + w.over(b)  # noqa: E731
    return Needs(_moderate(out), _moderate(out), out.of(n), out.of(n), values=values, n=n)


# Functional writes


@operator(
    "pattern: chain of index_put",
    "{0}.index_put(({1}.argsort(stable=True),), {2}).index_put(({1},), {2}, accumulate=True)",
    "torch.index_put({0} + {0}, ({1},), {2}, accumulate=True)",
    "{0}.clone().index_add_(0, {1}, {2}).index_copy(0, {1}.argsort(stable=True), {2})",
    dtypes=("float32", "float64", "int64"),
    rank=(1, 3),
    exact=True,
    noun="written",
)
def index_put_chain(draw: Draw, out: Spec) -> Needs:
    """Writes through indices, one after the other: reinplace.py makes them happen in place."""
    n = solid(out).shape[0]
    k = n if isinstance(n, Dim) else draw.integer(1, n)
    count = max(int(k), 17)
    values = lambda x, i, y: x.over(y, x + x) + y.times(count)  # noqa: E731
    return Needs(out.free(), index((k,), n), out.of(k, *out.shape[1:]), values=values)


@operator(
    "pattern: chain of slice writes",
    "torch.slice_scatter(torch.slice_scatter({0}, {1}, {dim}, {a}, {b}), {1} * 2, {dim}, {a}, {b})",
    "torch.select_scatter(torch.slice_scatter({0}, {1}, {dim}, {a}, {b}), {0}.select({dim}, {a}), {dim}, {a})",
    "torch.slice_scatter({0}, torch.slice_scatter({1}, {0}.narrow({dim}, {a}, 1), {dim}, 0, 1), {dim}, {a}, {b})",
    "torch.slice_scatter({0}, {0}.narrow({dim}, {a}, {k}) + {1}, {dim}, {a}, {b})",
    dtypes=("float32", "float64", "int64"),
    rank=(1, 4),
    exact=True,
    noun="written",
)
def slice_scatter_chain(draw: Draw, out: Spec) -> Needs:
    """Writes into slices without changing the tensor: reinplace.py and slice_scatter_noop in post_grad.py."""
    dim = draw.axis(solid(out))
    n = out.shape[dim]
    k = n // draw.integer(1, 2)
    if k < 1:
        raise Unfit("no slice")
    a = draw.integer(0, n - k)
    part = out.of(*out.shape[:dim], k, *out.shape[dim + 1 :])
    values = lambda x, y: x.over(y, y + y, x + y)  # noqa: E731
    return Needs(out.free(), part, values=values, dim=dim, a=a, b=a + k, k=k)


@operator(
    "pattern: copy of a write",
    "torch.empty_like({0}).copy_({0}).add_({1})",
    "{0}.clone().copy_({0} + {1})",
    "torch.zeros_like({0}).add_({0}).add_({1})",
    "torch.ones_like({0}).mul_({0}).add({1}).clone()",
    dtypes=FLOATS + SIGNED,
    exact=True,
    saves=False,
)
def copy_of_write(draw: Draw, out: Spec) -> Needs:
    """A buffer that is filled and added to: what functionalisation and reinplace.py take apart."""
    return Needs(out.free(), out.free(), values=lambda x, y: x + y)
