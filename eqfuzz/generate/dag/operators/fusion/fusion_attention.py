"""Attention in the patterns of Inductor's fuse_attention.py."""

from __future__ import annotations

from functools import partial
from typing import Any

from eqfuzz.generate.dag.catalogue.operator import Needs, operator
from eqfuzz.generate.dag.operators.fusion.fusion_products import HALVES, tame
from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.spec import FLOATS, WIDE, Range, Spec, UnsatisfiableSpec, index, nonempty
from eqfuzz.generate.dag.values.value_bounds import bounded

_fusion = partial(operator, family="fusion")


def _attended(q: Range, k: Range, v: Range, *more: Range) -> Range:
    """The range of an average of ``v``, with a margin for rounding."""
    edge = v.most * 0.05
    return Range(v.low - edge, v.high + edge, nonfinite=v.nonfinite or any(r.nonfinite for r in more))


def _heads(draw: Draw, out: Spec) -> tuple[Spec, Spec, Spec, int, float]:
    """Query, key and value that give ``out`` of size (…, length, width); the number of keys, and a scale."""
    *batch, length, width = nonempty(out).shape
    keys = length if draw.chance(0.5) else draw.size()
    inner = width if draw.chance(0.6) else draw.size()
    scale = draw.choice((2.0, 4.0, 0.5, 1.0, 1.7, 8.0))
    q, k = out.of(*batch, length, inner), out.of(*batch, keys, inner)
    return tame(q), tame(k), out.of(*batch, keys, width), keys, scale


@_fusion(
    "pattern: attention",
    "torch.matmul({0}, {1}.transpose(-2, -1)).div({scale}).softmax(dim=-1).matmul({2})",
    "torch.matmul({0}, {1}.transpose(-2, -1)).mul({scale}).softmax(dim=-1).matmul({2})",
    "torch.softmax({0} @ {1}.transpose(-2, -1) / {scale}, dim=-1) @ {2}",
    "F.dropout(torch.matmul({0}, {1}.transpose(-2, -1)).div({scale}).softmax(dim=-1), p=0.0).matmul({2})",
    "F.scaled_dot_product_attention({0}, {1}, {2}, scale=1 / {scale})",
    "torch.matmul(torch.softmax(torch.matmul({0} / {scale}, {1}.transpose(-2, -1)), -1), {2})",
    dtypes=FLOATS,
    rank=(3, 4),
    name_hint="attended",
)
def attention(draw: Draw, out: Spec) -> Needs:
    """Attention without a mask, scaled in several ways: patterns 1 to 4."""
    q, k, v, _, scale = _heads(draw, out)
    return Needs(q, k, v, values=_attended, scale=scale)


@_fusion(
    "pattern: attention with additive mask",
    "torch.softmax(({0} @ {1}.transpose(-2, -1) / {scale}) + {3}, dim=-1) @ {2}",
    "torch.softmax({0} @ {1}.transpose(-2, -1) + {3}, dim=-1).matmul({2})",
    "F.scaled_dot_product_attention({0}, {1}, {2}, attn_mask={3})",
    "(torch.matmul({0}, {1}.transpose(-2, -1)).div({scale}) + {3}).softmax(dim=-1).matmul({2})",
    dtypes=WIDE,
    rank=(4, 4),
    name_hint="attended",
)
def attention_with_mask(draw: Draw, out: Spec) -> Needs:
    """Attention with an additive mask, which may broadcast over heads: patterns 5, 6, 14."""
    q, k, v, keys, scale = _heads(draw, out)
    batch, heads, length, _ = out.shape
    size = draw.choice([(batch, heads, length, keys), (batch, 1, length, keys), (1, 1, length, keys)])
    return Needs(q, k, v, out.of(*size).within(-8.0, 8.0), values=_attended, scale=scale)


@_fusion(
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
    name_hint="attended",
)
def attention_of_permuted(draw: Draw, out: Spec) -> Needs:
    """Attention whose heads are permuted first: patterns 7 to 12 and 21."""
    q, k, v, _, scale = _heads(draw, out)
    turned = [spec.of(*(spec.shape[i] for i in (0, 2, 1, 3))) for spec in (q, k, v)]
    return Needs(tame(turned[0]), tame(turned[1]), turned[2], values=_attended, scale=scale)


@_fusion(
    "pattern: attention through bmm",
    "torch.bmm(torch.bmm({0}, {1}.transpose(1, 2)).softmax(dim=-1), {2})",
    "torch.bmm(F.softmax(torch.baddbmm({3}, {0}, {1}.transpose(1, 2), beta=0.5), -1), {2})",
    "torch.bmm(F.dropout(torch.bmm({0}, {1}.transpose(1, 2)).softmax(-1), 0.0), {2})",
    dtypes=FLOATS,
    rank=(3, 3),
    name_hint="attended",
)
def attention_through_bmm(draw: Draw, out: Spec) -> Needs:
    """Attention in three dimensions: pattern 13."""
    q, k, v, keys, _ = _heads(draw, out)
    batch, length, _ = out.shape
    return Needs(q, k, v, out.of(batch, length, keys).within(-8.0, 8.0), values=_attended)


@_fusion(
    "pattern: attention with padding mask",
    "torch.softmax(({0} @ {1}.transpose(-2, -1) / {scale}).masked_fill("
    "(torch.cat([torch.ones({b}, 1, dtype=torch.int64), {3}], 1) == 0).view({b}, 1, 1, {keys}), "
    'float("-inf")), dim=-1) @ {2}',
    "torch.softmax(torch.matmul({0}, {1}.transpose(-2, -1)).div({scale}).masked_fill("
    "F.pad({3} == 0, (1, 0)).view({b}, 1, 1, {keys}), torch.finfo(torch.{dtype}).min), -1) @ {2}",
    "F.scaled_dot_product_attention({0}, {1}, {2}, attn_mask=F.pad({3}, (1, 0), value=1)[:, None, None] != 0)",
    dtypes=WIDE,
    rank=(4, 4),
    name_hint="attended",
)
def attention_with_padding(draw: Draw, out: Spec) -> Needs:
    """Attention with a padding mask that keeps at least one key: patterns 15, 17, 20 and 24."""
    q, k, v, keys, scale = _heads(draw, out)
    if keys < 2:
        raise UnsatisfiableSpec("a key has to stay")
    b = out.shape[0]
    params: dict[str, Any] = {"scale": scale, "b": b, "keys": keys, "dtype": out.dtype}
    return Needs(q, k, v, index((b, keys - 1), 2), values=_attended, **params)


@_fusion(
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
    name_hint="attended",
)
def causal_attention(draw: Draw, out: Spec) -> Needs:
    """Causal attention: patterns 18 and 19."""
    q, k, v, keys, scale = _heads(draw, out)
    return Needs(q, k, v, values=_attended, length=out.shape[-2], keys=keys, scale=scale, dtype=out.dtype)


@_fusion(
    "pattern: attention in float32",
    "torch.softmax(({0} @ {1}.transpose(-2, -1) / {scale}).float(), dim=-1).to({0}.dtype) @ {2}",
    "torch.softmax({0} @ {1}.transpose(-2, -1) / {scale}, dim=-1, dtype=torch.float32).to(torch.{dtype}) @ {2}",
    "F.softmax((({0} / {scale}) @ {1}.transpose(-2, -1)).to(torch.float32), -1).type_as({2}).matmul({2})",
    dtypes=HALVES,
    rank=(3, 4),
    name_hint="attended",
)
def attention_in_float32(draw: Draw, out: Spec) -> Needs:
    """Attention in half precision with the softmax in float32: patterns 7, 8 and 21."""
    q, k, v, _, scale = _heads(draw, out)
    return Needs(q, k, v, values=_attended, scale=scale, dtype=out.dtype)


@_fusion(
    "pattern: self attention",
    "F.scaled_dot_product_attention(*(F.linear({0}, {1}, {2}).view({b}, {s}, 3, {h}, {d}).permute(2, 0, 3, 1, 4)))"
    ".transpose(1, 2).reshape({b}, {s}, {n})",
    "F.scaled_dot_product_attention(*(t.view({b}, {s}, {h}, {d}).transpose(1, 2) for t in "
    "F.linear({0}, {1}, {2}).chunk(3, dim=-1))).transpose(1, 2).contiguous().view({b}, {s}, {n})",
    dtypes=WIDE,
    rank=(3, 3),
    name_hint="attended",
)
def self_attention(draw: Draw, out: Spec) -> Needs:
    """Query, key and value from one linear layer, and the heads joined."""
    b, s, n = nonempty(out).shape
    heads = draw.choice([h for h in (1, 2, 3, 4) if n % h == 0])
    k = draw.size(9)
    most = bounded(3.0 * k + 1)
    x, weight, bias = out.of(b, s, k), out.of(3 * n, k), out.of(3 * n)
    params: dict[str, Any] = {"b": b, "s": s, "n": n, "h": heads, "d": n // heads}
    one = (-1.0, 1.0)
    return Needs(x.within(-3.0, 3.0), weight.within(*one), bias.within(*one), values=most, **params)
