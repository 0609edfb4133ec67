"""Attention: the function, and layers built on it."""

from __future__ import annotations

import math

from eqfuzz.generate.dag.catalogue.operator import Needs, operator
from eqfuzz.generate.dag.operators.nn.modules import keywords
from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.spec import WIDE, Dim, Range, Spec
from eqfuzz.generate.dag.values.windows import divisor, readable, static

_SDPA = "F.scaled_dot_product_attention"


def _attention(draw: Draw, out: Spec) -> tuple[list[Spec], list[str]]:
    """Queries, keys, values and perhaps a mask for a result ``out``, and keyword arguments."""
    *before, length, width = readable(out).shape
    deep = draw.choice((1, 2, 4, 8, 16))
    keys = length if draw.chance(0.5) else draw.size(9)
    heads = list(before)
    more = []
    grouped = len(before) == 2 and draw.chance(0.2) and not isinstance(before[1], Dim)
    if grouped:
        heads[1] = divisor(draw, before[1])
        more.append("enable_gqa=True")
    specs = [
        out.of(*before, length, deep).within(-8.0, 8.0),
        out.of(*heads, keys, deep).within(-8.0, 8.0),
        out.of(*heads, keys, width),
    ]
    masked = draw.choice(("", "", "causal", "numbers", "lower"))
    if masked == "causal":
        more.append("is_causal=True")
    elif masked == "numbers":
        broad = [n if draw.chance(0.7) else 1 for n in before] if draw.chance(0.4) else []
        specs.append(out.of(*broad, length, keys).within(-4.0, 4.0))
        more.append("attn_mask={3}")
    elif masked == "lower":
        more.append(f"attn_mask=torch.ones({length}, {keys}, dtype=torch.bool).tril()")
    if draw.chance(0.3):
        more.append(f"scale={draw.choice((0.5, 1.0, 0.125))}")
    return specs, more


def _mixed(*ranges: Range) -> Range:
    values = ranges[2]
    return values.over(Range(0, 0)).inexact()


@operator(
    "torch.nn.functional.scaled_dot_product_attention",
    dtypes=(*WIDE, "bfloat16"),
    rank=(2, 4),
    name_hint="attended",
    weight=3,
)
def scaled_dot_product_attention(draw: Draw, out: Spec) -> Needs:
    """With masks, causal or not, a scale, and grouped heads."""
    specs, more = _attention(draw, out)
    # the layout of the result depends on the backend
    form = f"{_SDPA}({', '.join(['{0}', '{1}', '{2}', *more])}).contiguous()"
    return Needs(*specs, values=_mixed, forms=(form,))


@operator(
    "torch.nn.functional.scaled_dot_product_attention.heads", dtypes=WIDE, rank=(3, 3), name_hint="attended", weight=2
)
def heads_joined(draw: Draw, out: Spec) -> Needs:
    """Of several heads, joined afterwards."""
    batch, length, width = readable(out).shape
    heads = divisor(draw, static(width), 8)
    specs, more = _attention(draw, out.of(batch, heads, length, width // heads))
    form = f"{_SDPA}({', '.join(['{0}', '{1}', '{2}', *more])}).transpose(1, 2).contiguous().flatten(2)"
    return Needs(*specs, values=_mixed, forms=(form,))


@operator(
    "torch.nn.functional.scaled_dot_product_attention.split", dtypes=WIDE, rank=(3, 3), name_hint="attended", weight=2
)
def self_attention(draw: Draw, out: Spec) -> Needs:
    """Self-attention: queries, keys and values are parts of one tensor."""
    batch, length, width = readable(out).shape
    heads = divisor(draw, static(width), 8)
    operand = out.of(batch, length, 3 * width).within(-8.0, 8.0)
    more = draw.choice(("", ", is_causal=True", ", scale=0.25"))
    parts = f"{{0}}.unflatten(-1, (3, {heads}, {width // heads})).permute(2, 0, 3, 1, 4)"
    form = f"{_SDPA}(*{parts}{more}).transpose(1, 2).contiguous().flatten(2)"
    return Needs(operand, values=lambda x: x.inexact(), forms=(form,))


@operator(
    "torch.nn.functional.softmax.attention",
    "torch.softmax({0} @ {1}.transpose(-2, -1) / {scale}, dim=-1) @ {2}",
    "F.softmax(torch.matmul({0}, {1}.mT) * (1 / {scale}), dim=-1) @ {2}",
    dtypes=(*WIDE, "bfloat16"),
    rank=(2, 4),
    name_hint="attended",
)
def attention_written_out(draw: Draw, out: Spec) -> Needs:
    """Written out as products and a softmax."""
    *before, length, width = readable(out).shape
    deep, keys = draw.choice((1, 4, 8, 16)), draw.size(9)
    query, key = out.of(*before, length, deep).within(-8.0, 8.0), out.of(*before, keys, deep).within(-8.0, 8.0)
    scale = draw.choice((math.isqrt(deep), round(math.sqrt(deep), 3)))
    return Needs(query, key, out.of(*before, keys, width), values=_mixed, scale=scale)


@operator("torch.nn.MultiheadAttention", dtypes=WIDE, rank=(2, 3), name_hint="attended", weight=2)
def multihead_attention(draw: Draw, out: Spec) -> Needs:
    """Self-attention or attention to another tensor, without the weights."""
    *before, _, width = readable(out).shape
    heads = divisor(draw, static(width), 8)
    bias = draw.choice(("", "", ", bias=False"))
    code = f"nn.MultiheadAttention({width}, {heads}{bias}, batch_first=True{keywords(out)})"
    query = out.free().within(-8.0, 8.0)
    bound = 8 * 1.3 * width * math.sqrt(width) + 1
    values = Range(-bound, bound)
    if draw.chance(0.5):
        form = "{layer}(*[{0}] * 3, need_weights=False)[0].contiguous()"
        return Needs(query, values=values, layers={"layer": code}, forms=(form,))
    memory = out.of(*before, draw.size(9), width).within(-8.0, 8.0)
    form = "{layer}({0}, {1}, {2}, need_weights=False)[0].contiguous()"
    return Needs(query, memory, memory, values=values, layers={"layer": code}, forms=(form,))


@operator("torch.nn.MultiheadAttention.weights", dtypes=WIDE, rank=(3, 3), name_hint="attended")
def multihead_attention_with_weights(draw: Draw, out: Spec) -> Needs:
    """With the weights, averaged over heads or per head."""
    batch, length, width = readable(out).shape
    heads = divisor(draw, static(width), 8)
    keys = draw.size(9)
    code = f"nn.MultiheadAttention({width}, {heads}, batch_first=True{keywords(out)})"
    memory = out.of(batch, keys, width).within(-8.0, 8.0)
    each = draw.chance(0.4)
    weights = out.of(batch, heads, length, keys) if each else out.of(batch, length, keys)
    bound = 8 * 1.3 * width * math.sqrt(width) + 1
    return Needs(
        out.free().within(-8.0, 8.0),
        memory,
        memory,
        values=Range(-bound, bound),
        outputs=(out, weights),
        layers={"layer": code},
        forms=("{layer}({0}, {1}, {2}" + ", average_attn_weights=False" * each + ")",),
    )


@operator("torch.nn.TransformerEncoderLayer", dtypes=WIDE, rank=(2, 3), name_hint="encoded", weight=1.5)
def transformer_encoder_layer(draw: Draw, out: Spec) -> Needs:
    """Attention and two linear layers, with normalisation before or after."""
    width = static(readable(out).shape[-1])
    heads = divisor(draw, width, 8)
    inner = draw.choice((4, 8, 16))
    options = draw.choice(("", ', activation="gelu"', ", norm_first=True"))
    code = (
        f"nn.TransformerEncoderLayer({width}, {heads}, {inner}, dropout=0.0{options}, batch_first=True{keywords(out)})"
    )
    bound = math.sqrt(width) + 1
    if "norm_first" in options:
        bound = 9 + 1.3 * width**2 + (width * inner) ** 0.5 * 4 + 2
    operand = out.free().within(-8.0, 8.0)
    return Needs(operand, values=Range(-bound, bound), layers={"layer": code}, forms=("{layer}({0}).contiguous()",))


@operator("torch.nn.TransformerDecoderLayer", dtypes=WIDE, rank=(3, 3), name_hint="decoded")
def transformer_decoder_layer(draw: Draw, out: Spec) -> Needs:
    """Self-attention, and attention to another tensor."""
    batch, _, width = readable(out).shape
    heads = divisor(draw, static(width), 8)
    inner = draw.choice((4, 8))
    code = f"nn.TransformerDecoderLayer({width}, {heads}, {inner}, dropout=0.0, batch_first=True{keywords(out)})"
    bound = math.sqrt(width) + 1
    memory = out.of(batch, draw.size(9), width).within(-8.0, 8.0)
    form = "{layer}({0}, {1}).contiguous()"
    operand = out.free().within(-8.0, 8.0)
    return Needs(operand, memory, values=Range(-bound, bound), layers={"layer": code}, forms=(form,))
