"""Matrix products, convolutions and attention as Inductor's graph passes look for them; the rest is in `fusion`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from eqfuzz.generate.dag.draw import Draw
from eqfuzz.generate.dag.operator import Needs, operator
from eqfuzz.generate.dag.operators.fusion import bounded, solid
from eqfuzz.generate.dag.spec import FLOATS, WIDE, Range, Spec, Unfit, index

_HALVES = ("float16", "bfloat16")
_KIND = "fusion"


def _depth(draw: Draw) -> int:
    """The size summed over: at times one, or odd."""
    return draw.choice((1, 2, 3, 4, 5, 7, 8, 16, 17, 33))


def _small(spec: Spec) -> Spec:
    """Values whose products make a softmax that is not all or nothing."""
    most = 2.0 if spec.dtype in _HALVES else 4.0
    return spec.within(-most, most)


def _matrix(out: Spec) -> tuple[int, int]:
    m, n = solid(out).shape
    return m, n


def _sum_of_products(k: int) -> Callable[..., Range]:
    """The range of a product over ``k``, with what further tensors add."""

    def values(x: Range, w: Range, *more: Range) -> Range:
        total = (x * w).times(k)
        for one in more:
            total = total + one
        return total

    return values


# Matrix products


@operator(
    "pattern: mm plus mm",
    "torch.mm({0}, {1}) + torch.mm({2}, {3})",
    "{0} @ {1} + {2} @ {3}",
    "torch.addmm(torch.mm({0}, {1}), {2}, {3})",
    dtypes=FLOATS,
    rank=(2, 2),
    exact=True,
    family=_KIND,
)
def mm_plus_mm(draw: Draw, out: Spec) -> Needs:
    """The sum of two products: mm_plus_mm in post_grad.py."""
    (m, n), k = _matrix(out), _depth(draw)
    first, second = out.of(m, k), out.of(k, n)
    return Needs(first, second, first, second, values=lambda a, b, c, d: (a * b).times(k) + (c * d).times(k))


@operator(
    "pattern: mm plus bias",
    "torch.mm({0}, {1}) + {2}",
    "{2} + {0} @ {1}",
    "torch.addmm({2}, {0}, {1})",
    "F.relu(torch.addmm({2}, {0}, {1}))",
    "torch.addmm({2}, {0}, {1}) * 0.5",
    dtypes=FLOATS,
    rank=(2, 2),
    exact=True,
    family=_KIND,
)
def mm_plus_bias(draw: Draw, out: Spec) -> Needs:
    """Fused into addmm, or taken out of one: addmm and unfuse_bias_add_to_pointwise in post_grad.py."""
    (m, n), k = _matrix(out), _depth(draw)
    bias = out.of(n) if draw.chance(0.7) else out.of(m, n)
    dot = _sum_of_products(k)
    values = lambda x, w, b: dot(x, w, b).over(Range(0, 0, exact=True))  # noqa: E731
    return Needs(out.of(m, k), out.of(k, n), bias, values=values)


@operator(
    "pattern: cat of products",
    "torch.cat([torch.mm({0}, {1}), torch.mm({0}, {2})], dim=1)",
    "torch.cat([{0} @ {1}, {0} @ {2}], -1)",
    "torch.cat([torch.addmm({3}, {0}, {1}), torch.addmm({4}, {0}, {2})], dim=1)",
    "torch.cat([F.linear({0}, {1}.t(), {3}), F.linear({0}, {2}.t(), {4})], dim=-1)",
    dtypes=WIDE,
    rank=(2, 2),
    exact=True,
    family=_KIND,
    noun="joined",
)
def cat_of_products(draw: Draw, out: Spec) -> Needs:
    """Products of one matrix joined: cat_addmm in post_grad.py, fuse_parallel_linear and batch_linear_lhs."""
    (m, n), k = _matrix(out), _depth(draw)
    a, b = draw.split(n, 2)
    dot = _sum_of_products(k)
    values = lambda x, v, w, c, d: dot(x, v.over(w)) + c.over(d, Range(0, 0, exact=True))  # noqa: E731
    return Needs(out.of(m, k), out.of(k, a), out.of(k, b), out.of(a), out.of(b), values=values)


@operator(
    "pattern: bmm of one batch",
    "torch.bmm({0}.unsqueeze(0), {1}.unsqueeze(0)).squeeze(0)",
    "torch.bmm({0}[None], {1}[None])[0].clone()",
    "torch.baddbmm(torch.zeros(1, {m}, {n}, dtype=torch.{dtype}), {0}[None], {1}[None]).reshape({m}, {n})",
    dtypes=FLOATS,
    rank=(2, 2),
    exact=True,
    family=_KIND,
)
def bmm_of_one(draw: Draw, out: Spec) -> Needs:
    """A batch of one product: bmm_to_mm in joint_graph.py."""
    (m, n), k = _matrix(out), _depth(draw)
    return Needs(out.of(m, k), out.of(k, n), values=_sum_of_products(k), m=m, n=n, dtype=out.dtype)


@operator(
    "pattern: bmm of one matrix",
    "torch.bmm({0}, {1}.expand({b}, {k}, {n}))",
    "torch.matmul({0}, {1})",
    "torch.einsum('bmk,kn->bmn', {0}, {1})",
    "({0}.reshape(-1, {k}) @ {1}).view({b}, {m}, {n})",
    "torch.bmm({0}, {1}.unsqueeze(0).repeat({b}, 1, 1))",
    dtypes=FLOATS,
    rank=(3, 3),
    exact=True,
    family=_KIND,
)
def bmm_of_one_matrix(draw: Draw, out: Spec) -> Needs:
    """A batch multiplied with the same matrix: the foldings of matmul, decompose_mem_bound_mm.py, einsum passes."""
    b, m, n = solid(out).shape
    k = _depth(draw)
    return Needs(out.of(b, m, k), out.of(k, n), values=_sum_of_products(k), b=b, m=m, n=n, k=k)


@operator(
    "pattern: product as a sum",
    "({0}.unsqueeze(-1) * {1}.unsqueeze(0)).sum(1)",
    "torch.einsum('mk,kn->mn', {0}, {1})",
    "torch.sum({0}[:, :, None] * {1}[None], dim=1)",
    "torch.mm({0}.contiguous(), {1}.t().contiguous().t())",
    dtypes=WIDE,
    rank=(2, 2),
    exact=True,
    family=_KIND,
)
def product_as_sum(draw: Draw, out: Spec) -> Needs:
    """A matrix product as pointwise and reduction, with thin sides too: decompositions of mm and pad_mm.py."""
    (m, n), k = _matrix(out), draw.choice((1, 1, 2, 3, 5, 9))
    return Needs(out.of(m, k), out.of(k, n), values=_sum_of_products(k))


@operator(
    "pattern: product of products",
    "torch.mm(torch.mm({0}, {1}), {2})",
    "{0} @ ({1} @ {2})",
    "torch.mm(F.relu(torch.mm({0}, {1})), {2})",
    "torch.mm({0}, F.gelu(torch.mm({1}, {2})))",
    "torch.tanh({0} @ {1}) @ {2}",
    dtypes=FLOATS,
    rank=(2, 2),
    family=_KIND,
)
def product_of_products(draw: Draw, out: Spec) -> Needs:
    """Two products with a pointwise function between: b2b_gemm.py."""
    (m, n), k, j = _matrix(out), draw.size(9), draw.size(9)

    def values(x: Range, v: Range, w: Range) -> Range:
        most = max(1.0, x.most) * max(1.0, v.most) * max(1.0, w.most) * k * j
        return Range(-most, most, wild=x.wild or v.wild or w.wild)

    small = _small(out)
    return Needs(small.of(m, k).within(-3, 3), out.of(k, j).within(-3, 3), out.of(j, n), values=values)


@operator(
    "pattern: permuted product",
    "torch.matmul({0}.transpose(-1, -2), {1})",
    "torch.matmul({0}.transpose(-1, -2), {1}.transpose(-1, -2).contiguous().transpose(-1, -2))",
    "F.linear({0}.transpose(-1, -2), {1}.transpose(-1, -2))",
    "F.linear({1}.transpose(-1, -2), {0}.transpose(-1, -2)).transpose(-1, -2).contiguous()",
    "({0}.t() @ {1}).t().t()",
    dtypes=WIDE,
    rank=(2, 2),
    exact=True,
    family=_KIND,
)
def permuted_product(draw: Draw, out: Spec) -> Needs:
    """Transposed operands and results: permute_matmul_fusion and linear_permute_fusion in pre_grad.py."""
    (m, n), k = _matrix(out), _depth(draw)
    return Needs(out.of(k, m), out.of(k, n), values=_sum_of_products(k))


@operator(
    "pattern: batched linears",
    "torch.stack([F.linear({0}, {2}, {3}), F.linear({1}, {2}, {3})]).sum(0)",
    "F.linear({0}, {2}, {3}) + F.linear({1}, {2}, {3})",
    "F.linear({0}, {2}) * F.sigmoid(F.linear({1}, {2}, {3}))",
    "sum(F.linear(torch.cat([{0}, {1}]), {2}, {3}).chunk(2))",
    dtypes=WIDE,
    rank=(2, 2),
    family=_KIND,
)
def batched_linears(draw: Draw, out: Spec) -> Needs:
    """Linear layers of one shape: batch_linear and group_linear in group_batch_fusion.py."""
    (m, n), k = _matrix(out), _depth(draw)
    rows = out.of(m, k)

    def values(x: Range, y: Range, w: Range, b: Range) -> Range:
        return (x * w).times(k) + (y * w).times(k) + b + b

    return Needs(rows, rows, out.of(n, k), out.of(n), values=values)


_ACTIVATIONS = (
    "F.relu({f})",
    "F.gelu({f})",
    "F.gelu({f}, approximate='tanh')",
    "F.silu({f})",
    "torch.tanh({f})",
    "torch.sigmoid({f})",
    "F.hardswish({f})",
    "F.leaky_relu({f}, 0.1)",
    "F.hardtanh({f}, -0.5, 4.0)",
    "({f}).clamp(min=-1.0, max=3.0)",
)
_JOINS = ("{f} + {3}", "{3} + {f}", "F.relu({f} + {3})", "({f}).add_({3})", "{3} * ({f})", "({f}) - {3}")


def _each(forms: tuple[str, ...], inner: str) -> list[str]:
    return [form.replace("{f}", inner) for form in forms]


def _after(k: int) -> Callable[..., Range]:
    dot = _sum_of_products(k)
    return lambda x, w, b: dot(x, w, b).over(Range(-1, 1))


@operator(
    "pattern: linear and activation",
    *_each(_ACTIVATIONS, "F.linear({0}, {1}, {2})"),
    dtypes=("float32", "float64", "bfloat16"),
    rank=(2, 4),
    family=_KIND,
    noun="active",
)
def linear_activation(draw: Draw, out: Spec) -> Needs:
    """A linear layer and an activation: the unary fusions of mkldnn_fusion.py."""
    *rows, n = solid(out).shape
    k = _depth(draw)
    return Needs(out.of(*rows, k), out.of(n, k), out.of(n), values=_after(k))


@operator(
    "pattern: linear and binary",
    *_each(_JOINS, "F.linear({0}, {1}, {2})"),
    dtypes=("float32", "float64", "bfloat16"),
    rank=(2, 4),
    family=_KIND,
)
def linear_binary(draw: Draw, out: Spec) -> Needs:
    """A linear layer and another tensor, added or multiplied: the binary fusions of mkldnn_fusion.py."""
    *rows, n = solid(out).shape
    k = _depth(draw)
    return Needs(out.of(*rows, k), out.of(n, k), out.of(n), out.free(), values=_joined(k))


def _joined(k: int) -> Callable[..., Range]:
    dot = _sum_of_products(k)

    def values(x: Range, w: Range, b: Range, y: Range) -> Range:
        made = dot(x, w, b)
        return (made + y).over(made - y, made * y, Range(0, 0))

    return values


# Convolutions


def _convolution(draw: Draw, out: Spec) -> tuple[Spec, Spec, Spec, int, int, int]:
    """Input, weight and bias of a convolution that keeps the sizes, its padding, its groups and what is summed."""
    batch, channels, *space = solid(out).shape
    width = draw.choice((1, 1, 3))
    groups = 1
    if draw.chance(0.25):
        groups = draw.choice([g for g in (1, 2, 3, 4) if channels % g == 0])
    each = draw.integer(1, 4)
    kernel = [width] * len(space)
    weight = out.of(channels, each, *kernel)
    return (
        out.of(batch, each * groups, *space),
        weight,
        out.of(channels),
        width // 2,
        groups,
        each * width ** len(space),
    )


for _dims in (1, 2, 3):
    _called = f"F.conv{_dims}d({{0}}, {{1}}, {{2}}, padding={{padding}}, groups={{groups}})"

    @operator(
        f"pattern: conv{_dims}d and activation",
        *_each(_ACTIVATIONS, _called),
        dtypes=("float32", "float32", "bfloat16", "float64"),
        rank=(_dims + 2, _dims + 2),
        family=_KIND,
        noun="active",
    )
    def conv_activation(draw: Draw, out: Spec) -> Needs:
        """A convolution and an activation: the unary fusions of mkldnn_fusion.py."""
        x, weight, bias, padding, groups, k = _convolution(draw, out)
        return Needs(x, weight, bias, values=_after(k), padding=padding, groups=groups)


_CONV = "F.conv2d({0}, {1}, {2}, padding={padding}, groups={groups})"


@operator("pattern: conv and binary", *_each(_JOINS, _CONV), dtypes=("float32", "bfloat16"), rank=(4, 4), family=_KIND)
def conv_binary(draw: Draw, out: Spec) -> Needs:
    """A convolution and another tensor, and a ReLU: the binary fusions of mkldnn_fusion.py."""
    x, weight, bias, padding, groups, k = _convolution(draw, out)
    return Needs(x, weight, bias, out.free(), values=_joined(k), padding=padding, groups=groups)


@operator(
    "pattern: conv and channels",
    *(f"{_CONV} {symbol} {{3}}.view(1, -1, 1, 1)" for symbol in "+-*"),
    f"{_CONV} / ({{3}}.view(1, -1, 1, 1).abs() + 1)",
    f"{_CONV} * {{3}}.reshape(-1, 1, 1) + {{2}}[:, None, None]",
    dtypes=WIDE,
    rank=(4, 4),
    family=_KIND,
)
def conv_channels(draw: Draw, out: Spec) -> Needs:
    """A convolution and a number for each channel: binary_folding.py, used in freezing."""
    x, weight, bias, padding, groups, k = _convolution(draw, out)
    joined = _joined(k)
    values = lambda x, w, b, c: joined(x, w, b, c) + b.over(-b, Range(0, 0))  # noqa: E731
    return Needs(x, weight, bias, bias, values=values, padding=padding, groups=groups)


@operator(
    "pattern: conv and batch norm",
    f"F.batch_norm({_CONV}, {{3}}.detach(), {{4}}.detach(), {{5}}, {{2}}, training=False, eps=1e-3)",
    f"F.relu(F.batch_norm({_CONV}, {{3}}.detach(), {{4}}.detach(), {{5}}, None, False))",
    f"F.batch_norm({_CONV}, {{3}}.detach(), {{4}}.detach())",
    f"({_CONV} - {{3}}.view(-1, 1, 1)) * torch.rsqrt({{4}}.view(-1, 1, 1) + 1e-3) * {{5}}.view(-1, 1, 1)",
    dtypes=WIDE,
    rank=(4, 4),
    family=_KIND,
    noun="normed",
)
def conv_batch_norm(draw: Draw, out: Spec) -> Needs:
    """A convolution and batch normalisation with fixed statistics: efficient_conv_bn_eval.py and fuse_conv_bn."""
    x, weight, bias, padding, groups, k = _convolution(draw, out)
    dot = _sum_of_products(k)

    def values(x: Range, w: Range, b: Range, mean: Range, var: Range, scale: Range) -> Range:
        most = (dot(x, w, b).most + mean.most) * 2 * max(1.0, scale.most) + b.most
        return Range(-most, most, wild=x.wild or w.wild or b.wild or scale.wild)

    stats = bias.within(-2.0, 2.0), bias.within(0.3, 4.0)
    return Needs(x, weight, bias, *stats, bias, values=values, padding=padding, groups=groups)


@operator(
    "pattern: transposed conv and activation",
    *_each(_ACTIVATIONS, "F.conv_transpose2d({0}, {1}, {2}, padding={padding})"),
    dtypes=WIDE,
    rank=(4, 4),
    family=_KIND,
    noun="active",
)
def transposed_conv(draw: Draw, out: Spec) -> Needs:
    """A transposed convolution and an activation: mkldnn_fusion.py."""
    batch, channels, height, width = solid(out).shape
    side, inner = draw.choice((1, 3)), draw.integer(1, 4)
    x, weight = out.of(batch, inner, height, width), out.of(inner, channels, side, side)
    return Needs(x, weight, out.of(channels), values=_after(inner * side * side), padding=side // 2)


@operator(
    "pattern: patches",
    "F.unfold({0}, {side}, stride={side}).transpose(1, 2).reshape({b}, -1, {length}) @ {1}",
    "F.conv2d({0}, {1}.t().reshape({n}, {c}, {side}, {side}), stride={side}).flatten(2).transpose(1, 2).contiguous()",
    "{0}.unfold(2, {side}, {side}).unfold(3, {side}, {side}).permute(0, 2, 3, 1, 4, 5).reshape({b}, -1, {length})"
    " @ {1}",
    dtypes=WIDE,
    rank=(3, 3),
    exact=True,
    family=_KIND,
    noun="patches",
)
def patches(draw: Draw, out: Spec) -> Needs:
    """The patches of an image and a product, as vision transformers begin."""
    b, count, n = solid(out).shape
    rows = draw.choice([r for r in (1, 2, 3, 4) if count % r == 0])
    side, c = draw.integer(1, 3), draw.integer(1, 3)
    length = c * side * side
    image = out.of(b, c, rows * side, count // rows * side)
    params: dict[str, Any] = {"b": b, "n": n, "c": c, "side": side, "length": length}
    return Needs(image, out.of(length, n), values=_sum_of_products(length), **params)


@operator(
    "pattern: embedding bag",
    "F.embedding({0}, {1}).sum(-2)",
    "{1}[{0}].sum(dim=-2)",
    "F.embedding({0}, {1}).mean(-2)",
    "torch.index_select({1}, 0, {0}.flatten()).reshape({size}).sum(-2)",
    dtypes=WIDE,
    rank=(2, 3),
    family=_KIND,
    noun="embedded",
)
def embedding_bag(draw: Draw, out: Spec) -> Needs:
    """Rows looked up and summed: gathers fused into reductions, scattered in the backward pass."""
    *rows, n = solid(out).shape
    bag, words = draw.integer(1, 6), draw.integer(2, 12)
    values = lambda i, w: w.times(bag).over(w)  # noqa: E731
    return Needs(index((*rows, bag), words), out.of(words, n), values=values, size=(*rows, bag, n))


# Attention: fuse_attention.py


def _attended(q: Range, k: Range, v: Range, *more: Range) -> Range:
    """What is averaged stays where it was, rounding aside."""
    edge = v.most * 0.05
    return Range(v.low - edge, v.high + edge, wild=v.wild or any(r.wild for r in more))


def _heads(draw: Draw, out: Spec) -> tuple[Spec, Spec, Spec, int, float]:
    """Query, key and value for the result, which ends in (length, width); the keys' length, and a scale."""
    *batch, length, width = solid(out).shape
    keys = length if draw.chance(0.5) else draw.size()
    inner = width if draw.chance(0.6) else draw.size()
    scale = draw.choice((2.0, 4.0, 0.5, 1.0, 1.7, 8.0))
    q, k = out.of(*batch, length, inner), out.of(*batch, keys, inner)
    return _small(q), _small(k), out.of(*batch, keys, width), keys, scale


@operator(
    "pattern: attention",
    "torch.matmul({0}, {1}.transpose(-2, -1)).div({scale}).softmax(dim=-1).matmul({2})",
    "torch.matmul({0}, {1}.transpose(-2, -1)).mul({scale}).softmax(dim=-1).matmul({2})",
    "torch.softmax({0} @ {1}.transpose(-2, -1) / {scale}, dim=-1) @ {2}",
    "F.dropout(torch.matmul({0}, {1}.transpose(-2, -1)).div({scale}).softmax(dim=-1), p=0.0).matmul({2})",
    "F.scaled_dot_product_attention({0}, {1}, {2}, scale=1 / {scale})",
    "torch.matmul(torch.softmax(torch.matmul({0} / {scale}, {1}.transpose(-2, -1)), -1), {2})",
    dtypes=FLOATS,
    rank=(3, 4),
    family=_KIND,
    noun="attended",
)
def attention(draw: Draw, out: Spec) -> Needs:
    """Attention without a mask, scaled in several ways: patterns 1 to 4."""
    q, k, v, _, scale = _heads(draw, out)
    return Needs(q, k, v, values=_attended, scale=scale)


@operator(
    "pattern: attention with additive mask",
    "torch.softmax(({0} @ {1}.transpose(-2, -1) / {scale}) + {3}, dim=-1) @ {2}",
    "torch.softmax({0} @ {1}.transpose(-2, -1) + {3}, dim=-1).matmul({2})",
    "F.scaled_dot_product_attention({0}, {1}, {2}, attn_mask={3})",
    "(torch.matmul({0}, {1}.transpose(-2, -1)).div({scale}) + {3}).softmax(dim=-1).matmul({2})",
    dtypes=WIDE,
    rank=(4, 4),
    family=_KIND,
    noun="attended",
)
def attention_with_mask(draw: Draw, out: Spec) -> Needs:
    """Attention with a mask that is added, with fewer heads too: patterns 5, 6, 14."""
    q, k, v, keys, scale = _heads(draw, out)
    batch, heads, length, _ = out.shape
    size = draw.choice([(batch, heads, length, keys), (batch, 1, length, keys), (1, 1, length, keys)])
    return Needs(q, k, v, out.of(*size).within(-8.0, 8.0), values=_attended, scale=scale)


@operator(
    "pattern: attention of permuted heads",
    "torch.matmul({0}.permute(0, 2, 1, 3), {1}.permute(0, 2, 1, 3).transpose(-2, -1)).div({scale})"
    ".softmax(dim=-1).matmul({2}.permute(0, 2, 1, 3))",
    "torch.softmax({0}.permute(0, 2, 1, 3) / {scale} @ {1}.permute(0, 2, 1, 3).transpose(-2, -1), dim=-1) "
    "@ {2}.permute(0, 2, 1, 3)",
    "F.scaled_dot_product_attention({0}.transpose(1, 2), {1}.transpose(1, 2), {2}.transpose(1, 2)).contiguous()",
    "torch.softmax(({0}.permute(0, 2, 1, 3) @ {1}.permute(0, 2, 1, 3).permute(0, 1, 3, 2)).float(), -1)"
    ".type_as({0}) @ {2}.permute(0, 2, 1, 3)",
    dtypes=("float32", "float16", "bfloat16"),
    rank=(4, 4),
    family=_KIND,
    noun="attended",
)
def attention_of_permuted(draw: Draw, out: Spec) -> Needs:
    """Attention whose heads are permuted first: patterns 7 to 12 and 21."""
    q, k, v, _, scale = _heads(draw, out)
    turned = [spec.of(*(spec.shape[i] for i in (0, 2, 1, 3))) for spec in (q, k, v)]
    return Needs(_small(turned[0]), _small(turned[1]), turned[2], values=_attended, scale=scale)


@operator(
    "pattern: attention through bmm",
    "torch.bmm(torch.bmm({0}, {1}.transpose(1, 2)).softmax(dim=-1), {2})",
    "torch.bmm(F.softmax(torch.baddbmm({3}, {0}, {1}.transpose(1, 2), beta=0.5), -1), {2})",
    "torch.bmm(F.dropout(torch.bmm({0}, {1}.transpose(1, 2)).softmax(-1), 0.0), {2})",
    dtypes=FLOATS,
    rank=(3, 3),
    family=_KIND,
    noun="attended",
)
def attention_through_bmm(draw: Draw, out: Spec) -> Needs:
    """Attention in three dimensions: pattern 13."""
    q, k, v, keys, _ = _heads(draw, out)
    batch, length, _ = out.shape
    return Needs(q, k, v, out.of(batch, length, keys).within(-8.0, 8.0), values=_attended)


@operator(
    "pattern: attention with padding mask",
    "torch.softmax(({0} @ {1}.transpose(-2, -1) / {scale}).masked_fill("
    "(torch.cat([torch.ones({b}, 1, dtype=torch.int64), {3}], 1) == 0).view({b}, 1, 1, {keys}), "
    'float("-inf")), dim=-1) @ {2}',
    "torch.softmax(torch.matmul({0}, {1}.transpose(-2, -1)).div({scale}).masked_fill("
    "F.pad({3} == 0, (1, 0)).view({b}, 1, 1, {keys}), torch.finfo(torch.{dtype}).min), -1) @ {2}",
    "F.scaled_dot_product_attention({0}, {1}, {2}, attn_mask=F.pad({3}, (1, 0), value=1)[:, None, None] != 0)",
    dtypes=WIDE,
    rank=(4, 4),
    family=_KIND,
    noun="attended",
)
def attention_with_padding(draw: Draw, out: Spec) -> Needs:
    """Attention with keys left out, never all: patterns 15, 17, 20 and 24."""
    q, k, v, keys, scale = _heads(draw, out)
    if keys < 2:
        raise Unfit("a key has to stay")
    b = out.shape[0]
    params: dict[str, Any] = {"scale": scale, "b": b, "keys": keys, "dtype": out.dtype}
    return Needs(q, k, v, index((b, keys - 1), 2), values=_attended, **params)


@operator(
    "pattern: causal attention",
    "torch.softmax(torch.where(torch.tril(torch.ones({length}, {keys}, dtype=torch.bool)), "
    '{0} @ {1}.transpose(-2, -1) / {scale}, float("-inf")), dim=-1) @ {2}',
    "torch.softmax(({0} @ {1}.transpose(-2, -1)).div({scale}) + torch.full(({length}, {keys}), float('-inf'), "
    "dtype=torch.{dtype}).triu(1), -1) @ {2}",
    "torch.softmax(torch.where(torch.arange({length})[:, None] >= torch.arange({keys}), "
    "torch.matmul({0}, {1}.permute(0, 1, 3, 2)) / torch.full([], {scale}, dtype=torch.{dtype}), "
    "torch.full([], torch.finfo(torch.{dtype}).min, dtype=torch.{dtype})), -1) @ {2}",
    "F.scaled_dot_product_attention({0}, {1}, {2}, is_causal=True)",
    dtypes=("float32", "float64", "bfloat16"),
    rank=(4, 4),
    family=_KIND,
    noun="attended",
)
def causal_attention(draw: Draw, out: Spec) -> Needs:
    """Attention to what came before: patterns 18 and 19."""
    q, k, v, keys, scale = _heads(draw, out)
    return Needs(q, k, v, values=_attended, length=out.shape[-2], keys=keys, scale=scale, dtype=out.dtype)


@operator(
    "pattern: attention in float32",
    "torch.softmax(({0} @ {1}.transpose(-2, -1) / {scale}).float(), dim=-1).to({0}.dtype) @ {2}",
    "torch.softmax({0} @ {1}.transpose(-2, -1) / {scale}, dim=-1, dtype=torch.float32).to(torch.{dtype}) @ {2}",
    "F.softmax((({0} / {scale}) @ {1}.transpose(-2, -1)).to(torch.float32), -1).type_as({2}).matmul({2})",
    dtypes=_HALVES,
    rank=(3, 4),
    family=_KIND,
    noun="attended",
)
def attention_in_float32(draw: Draw, out: Spec) -> Needs:
    """Attention of halves with the softmax in float32: patterns 7, 8 and 21."""
    q, k, v, _, scale = _heads(draw, out)
    return Needs(q, k, v, values=_attended, scale=scale, dtype=out.dtype)


@operator(
    "pattern: self attention",
    "F.scaled_dot_product_attention(*(F.linear({0}, {1}, {2}).view({b}, {s}, 3, {h}, {d}).permute(2, 0, 3, 1, 4)))"
    ".transpose(1, 2).reshape({b}, {s}, {n})",
    "F.scaled_dot_product_attention(*(t.view({b}, {s}, {h}, {d}).transpose(1, 2) for t in "
    "F.linear({0}, {1}, {2}).chunk(3, dim=-1))).transpose(1, 2).contiguous().view({b}, {s}, {n})",
    dtypes=WIDE,
    rank=(3, 3),
    family=_KIND,
    noun="attended",
)
def self_attention(draw: Draw, out: Spec) -> Needs:
    """Query, key and value from one linear layer, and the heads joined again."""
    b, s, n = solid(out).shape
    heads = draw.choice([h for h in (1, 2, 3, 4) if n % h == 0])
    k = draw.size(9)
    most = bounded(3.0 * k + 1)
    x, weight, bias = out.of(b, s, k), out.of(3 * n, k), out.of(3 * n)
    params: dict[str, Any] = {"b": b, "s": s, "n": n, "h": heads, "d": n // heads}
    one = (-1.0, 1.0)
    return Needs(x.within(-3.0, 3.0), weight.within(*one), bias.within(*one), values=most, **params)
