"""Layers of ``torch.nn``; each makes the program a module."""

from __future__ import annotations

import math

from eqfuzz.generate.dag.catalogue.operator import Needs, operator
from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.spec import FLOATS, INTEGERS, WIDE, Dim, Range, Spec, UnsatisfiableSpec, index
from eqfuzz.generate.dag.values.windows import (
    divisor,
    greatest,
    one_or_all,
    options,
    readable,
    static,
    transposed,
    window,
)

DTYPES = (*WIDE, "bfloat16")
LAYER = "{layer}({0})"


def keywords(out: Spec) -> str:
    """The ``dtype`` argument of a layer's code, empty for the default."""
    return "" if out.dtype == "float32" else f", dtype=torch.{out.dtype}"


def _times(most: float, x: Range) -> Range:
    """The range of ``x`` scaled by up to ``most``, plus a bias below 1."""
    bound = x.most * most + 1
    return Range(-bound, bound, nonfinite=x.nonfinite)


@operator("torch.nn.Linear", LAYER, dtypes=DTYPES, rank=(1, 5), name_hint="hidden", weight=3)
def linear(draw: Draw, out: Spec) -> Needs:
    """With and without bias."""
    *before, width = readable(out).shape
    features = draw.size(17)
    bias = draw.choice(("", "", ", bias=False"))
    code = f"nn.Linear({features}, {static(width)}{bias}{keywords(out)})"
    return Needs(out.of(*before, features), values=lambda x: _times(features**0.5, x), layers={"layer": code})


@operator("torch.nn.Bilinear", "{layer}({0}, {1})", dtypes=WIDE, rank=(1, 4), name_hint="hidden")
def bilinear(draw: Draw, out: Spec) -> Needs:
    """Of two tensors."""
    *before, width = readable(out).shape
    first, second = draw.size(6), draw.size(6)
    code = f"nn.Bilinear({first}, {second}, {static(width)}{keywords(out)})"
    operands = out.of(*before, first).within(-8, 8), out.of(*before, second).within(-8, 8)
    bound = 64 * first**0.5 * second + 1
    return Needs(*operands, values=Range(-bound, bound), layers={"layer": code})


_ACTIVATIONS = ("nn.GELU()", "nn.ReLU()", "nn.SiLU()", "nn.Tanh()", "nn.LeakyReLU(0.1)")


@operator("torch.nn.Sequential", LAYER, dtypes=DTYPES, rank=(1, 4), name_hint="hidden", weight=2)
def sequential(draw: Draw, out: Spec) -> Needs:
    """Two linear layers with an activation in between, and sometimes a norm before."""
    *before, width = readable(out).shape
    features, inner, more = draw.size(9), draw.choice((4, 8, 16)), keywords(out)
    norm = f"nn.LayerNorm({features}{more}), " if draw.chance(0.3) else ""
    layers = (
        f"nn.Linear({features}, {inner}{more}), {draw.choice(_ACTIVATIONS)}, nn.Linear({inner}, {static(width)}{more})"
    )
    most = (features * inner) ** 0.5 * (2 if norm else 1)
    operand = out.of(*before, features).within(-16.0, 16.0)
    values = lambda x: Range(-((x.most + 2) * most + inner), (x.most + 2) * most + inner)  # noqa: E731
    return Needs(operand, values=values, layers={"net": f"nn.Sequential({norm}{layers})"}, forms=("{net}({0})",))


@operator("torch.nn.ModuleList", dtypes=WIDE, rank=(1, 3), name_hint="hidden", weight=1.5)
def module_list(draw: Draw, out: Spec) -> Needs:
    """Linear layers in sequence or in parallel."""
    width = static(readable(out).shape[-1])
    count = draw.choice((2, 3))
    code = f"nn.ModuleList(nn.Linear({width}, {width}{keywords(out)}) for _ in range({count}))"
    if draw.chance(0.5):
        form = draw.choice(
            (
                "functools.reduce(lambda h, layer: layer(h), {layers}, {0})",
                "functools.reduce(lambda h, layer: torch.relu(layer(h)), {layers}, {0})",
            )
        )
        bound = (8 + 1) * width ** (count / 2) + width**count
    else:
        form = draw.choice(
            (
                "torch.stack([layer({0}) for layer in {layers}]).sum(0)",
                "sum(layer({0}) for layer in {layers})",
                "torch.stack([layer({0}) for layer in {layers}]).mean(dim=0)",
            )
        )
        bound = count * (8 * width**0.5 + 1)
    operand = out.free().within(-8.0, 8.0)
    return Needs(operand, values=Range(-bound, bound), layers={"layers": code}, forms=(form,))


@operator("torch.nn.ParameterList", dtypes=WIDE, rank=(1, 4), name_hint="scaled", weight=0.7)
def parameter_list(draw: Draw, out: Spec) -> Needs:
    """A product with several weights."""
    width = static(readable(out).shape[-1])
    count = draw.choice((2, 3))
    code = f"nn.ParameterList(torch.linspace(0.5, 1.5, {width}{keywords(out)}) for _ in range({count}))"
    form = "functools.reduce(torch.mul, {weights}, {0})"
    most = Range(0, 1.5**count)
    return Needs(out.free(), values=lambda x: x * most, layers={"weights": code}, forms=(form,))


for _rank in (1, 2, 3):

    @operator(
        f"torch.nn.Conv{_rank}d",
        LAYER,
        dtypes=WIDE,
        rank=(_rank + 1, _rank + 2),
        name_hint="features",
        weight=3 - _rank * 0.7,
    )
    def convolution(draw: Draw, out: Spec, _rank: int = _rank) -> Needs:
        """Strided, padded with zeros or replicated values, dilated, grouped."""
        size = readable(out).shape
        before, channels, spatial = size[: -_rank - 1], static(size[-_rank - 1]), size[-_rank:]
        groups = divisor(draw, channels) if draw.chance(0.3) else 1
        each = draw.choice((1, 2, 3))
        slid = window(draw, spatial)
        more = options(draw, slid, "stride", "padding", "dilation") + (f", groups={groups}" if groups > 1 else "")
        if any(slid.padding) and draw.chance(0.2):
            more += ', padding_mode="replicate"'
        more += draw.choice(("", "", ", bias=False")) + keywords(out)
        kernel = one_or_all(draw, slid.kernel)
        code = f"nn.Conv{_rank}d({groups * each}, {channels}, {kernel}{more})"
        operand = readable(out.of(*before, groups * each, *slid.input_size))
        return Needs(operand, values=lambda x: _times((each * slid.count) ** 0.5, x), layers={"layer": code})

    @operator(
        f"torch.nn.ConvTranspose{_rank}d",
        LAYER,
        dtypes=WIDE,
        rank=(_rank + 1, _rank + 2),
        name_hint="features",
        weight=1.5 - _rank * 0.3,
    )
    def transposed_convolution(draw: Draw, out: Spec, _rank: int = _rank) -> Needs:
        """Strided, with input and output padding."""
        size = readable(out).shape
        before, channels, spatial = size[: -_rank - 1], static(size[-_rank - 1]), size[-_rank:]
        each = draw.choice((1, 2, 3))
        slid = transposed(draw, spatial)
        more = options(draw, slid, "stride", "padding", "output_padding", "dilation") + keywords(out)
        code = f"nn.ConvTranspose{_rank}d({each}, {channels}, {one_or_all(draw, slid.kernel)}{more})"
        operand = readable(out.of(*before, each, *slid.input_size))
        return Needs(operand, values=lambda x: _times(each * slid.count**0.5, x), layers={"layer": code})


@operator("torch.nn.Embedding", LAYER, dtypes=WIDE, rank=(1, 4), name_hint="embedded", weight=2)
def embedding(draw: Draw, out: Spec) -> Needs:
    """Rows of a table."""
    *before, width = readable(out).shape
    rows = draw.choice((2, 5, 10, 32))
    more = draw.choice(("", "", f", padding_idx={draw.integer(0, rows - 1)}")) + keywords(out)
    code = f"nn.Embedding({rows}, {static(width)}{more})"
    return Needs(index(before, rows), values=Range(-6, 6), layers={"layer": code})


@operator("torch.nn.EmbeddingBag", LAYER, dtypes=WIDE, rank=(2, 2), name_hint="embedded")
def embedding_bag(draw: Draw, out: Spec) -> Needs:
    """Sums and means of rows of a table."""
    batch, width = readable(out).shape
    rows, count = draw.choice((2, 5, 10)), draw.size(6)
    mode = draw.choice(("mean", "sum"))
    code = f'nn.EmbeddingBag({rows}, {static(width)}, mode="{mode}"{keywords(out)})'
    return Needs(index((batch, count), rows), values=Range(-6 * count, 6 * count), layers={"layer": code})


for _name in ("GRU", "LSTM", "RNN"):

    @operator(
        f"torch.nn.{_name}", "{layer}({0})[0].contiguous()", dtypes=WIDE, rank=(2, 3), name_hint="states", weight=1.2
    )
    def recurrent(draw: Draw, out: Spec, _name: str = _name) -> Needs:
        """Over a short sequence, in one direction or two."""
        *before, width = readable(out).shape
        both = static(width) % 2 == 0 and draw.chance(0.3)
        layers = draw.choice((1, 1, 2))
        features = draw.size(6)
        hidden = width // 2 if both else width
        if int(before[-1]) > 17:
            raise UnsatisfiableSpec("a long sequence")
        more = f", num_layers={layers}" if layers > 1 else ""
        more += ", bidirectional=True" if both else ""
        code = f"nn.{_name}({features}, {hidden}{more}, batch_first=True{keywords(out)})"
        operand = out.of(*before, features).within(-8.0, 8.0)
        return Needs(operand, values=Range(-1, 1), layers={_name.lower(): code}, forms=_states(_name))

    @operator(f"torch.nn.{_name}Cell", dtypes=WIDE, rank=(1, 2), name_hint="state")
    def cell(draw: Draw, out: Spec, _name: str = _name) -> Needs:
        """One step."""
        *before, width = readable(out).shape
        features = draw.size(9)
        code = f"nn.{_name}Cell({features}, {static(width)}{keywords(out)})"
        operand, state = out.of(*before, features).within(-8.0, 8.0), out.free().within(-1.0, 1.0)
        if _name == "LSTM":
            form = "{cell}({0}, ({1}, {2}))"
            return Needs(
                operand, state, state, values=Range(-1, 1), outputs=(out, out), layers={"cell": code}, forms=(form,)
            )
        return Needs(operand, state, values=Range(-1, 1), layers={"cell": code}, forms=("{cell}({0}, {1})",))


def _states(name: str) -> tuple[str, ...]:
    return (f"{{{name.lower()}}}({{0}})[0].contiguous()",)


@operator("torch.nn.PReLU", LAYER, dtypes=DTYPES, rank=(1, 5), name_hint="active")
def prelu(draw: Draw, out: Spec) -> Needs:
    """With one slope, or one per channel."""
    readable(out)
    each = out.rank > 1 and draw.chance(0.5)
    count = static(out.shape[1]) if each else 1
    code = f"nn.PReLU({count if each else ''}{keywords(out)})".replace("(, ", "(")
    return Needs(out.free(), values=lambda x: x.over(x * Range(0, 1)).inexact(), layers={"layer": code})


@operator("torch.nn.ReLU.inplace", "{layer}({0}.clone())", dtypes=DTYPES, rank=(1, 5), exact=True, name_hint="active")
def relu_in_place(draw: Draw, out: Spec) -> Needs:
    """In place, on a copy."""
    code = draw.choice(("nn.ReLU(inplace=True)", "nn.ReLU6(inplace=True)"))
    return Needs(out.free(), values=lambda x: x.with_(max(x.low, 0), max(x.high, 0)), layers={"layer": code})


@operator("torch.nn.Dropout", LAYER, dtypes=DTYPES, rank=(1, 5), exact=True, view=True, saves=False)
def dropout(draw: Draw, out: Spec) -> Needs:
    """The identity: with p=0, in evaluation mode, or ``nn.Identity``."""
    code = draw.choice(("nn.Dropout(p=0.0)", "nn.Dropout(0.5).eval()", "nn.Identity()", "nn.AlphaDropout(0.2).eval()"))
    return Needs(out.free(), layers={"layer": code})


@operator("torch.nn.Softmax", LAYER, dtypes=DTYPES, rank=(1, 5), name_hint="probabilities")
def softmax(draw: Draw, out: Spec) -> Needs:
    """Along any dimension."""
    axis = draw.axis(readable(out))
    code = f"nn.Softmax(dim={draw.signed_axis(axis, out.rank)})"
    return Needs(out.free(), values=lambda x: x.with_(0.0, 1.01, exact=False), layers={"layer": code})


@operator(
    "torch.nn.Flatten", LAYER, dtypes=FLOATS + INTEGERS, rank=(1, 4), exact=True, view=True, saves=False, dense=True
)
def flatten(draw: Draw, out: Spec) -> Needs:
    """Of two dimensions."""
    axis = draw.axis(readable(out))
    first = divisor(draw, static(out.shape[axis]))
    size = (*out.shape[:axis], first, out.shape[axis] // first, *out.shape[axis + 1 :])
    return Needs(out.of(*size), layers={"layer": f"nn.Flatten({axis}, {axis + 1})"})


@operator(
    "torch.nn.Unflatten", LAYER, dtypes=FLOATS + INTEGERS, rank=(2, 5), exact=True, view=True, saves=False, dense=True
)
def unflatten(draw: Draw, out: Spec) -> Needs:
    """One dimension split in two."""
    axis = draw.integer(0, out.rank - 2)
    first, second = static(readable(out).shape[axis]), static(out.shape[axis + 1])
    operand = out.of(*out.shape[:axis], first * second, *out.shape[axis + 2 :])
    return Needs(operand, layers={"layer": f"nn.Unflatten({axis}, ({first}, {second}))"})


@operator("torch.nn.MaxPool2d", LAYER, dtypes=DTYPES, rank=(3, 4), exact=True, name_hint="pooled")
def max_pool(draw: Draw, out: Spec) -> Needs:
    """With windows of 2 by 2, or of 3 by 3 with padding."""
    *before, rows, columns = readable(out).shape
    if isinstance(rows, Dim) or isinstance(columns, Dim) or draw.chance(0.4):
        return Needs(out.free(), layers={"layer": "nn.MaxPool2d(3, stride=1, padding=1)"})
    operand = readable(out.of(*before, 2 * rows, 2 * columns))
    return Needs(operand, layers={"layer": "nn.MaxPool2d(2)"})


@operator("torch.nn.AdaptiveAvgPool2d", LAYER, dtypes=DTYPES, rank=(3, 4), name_hint="pooled")
def adaptive_avg_pool(draw: Draw, out: Spec) -> Needs:
    """To any size."""
    *before, rows, columns = readable(out).shape
    operand = readable(out.of(*before, draw.size(9), draw.size(9)))
    code = f"nn.AdaptiveAvgPool2d(({static(rows)}, {static(columns)}))"
    return Needs(operand, values=lambda x: x.over(Range(0, 0)), layers={"layer": code})


@operator("torch.nn.Upsample", LAYER, dtypes=WIDE, rank=(4, 4), name_hint="resized")
def upsample(draw: Draw, out: Spec) -> Needs:
    """To twice the size."""
    *before, rows, columns = readable(out).shape
    if static(rows) % 2 or static(columns) % 2:
        raise UnsatisfiableSpec("no whole multiple")
    more = draw.choice(("", ', mode="bilinear"', ', mode="bilinear", align_corners=True', ', mode="nearest"'))
    operand = out.of(*before, rows // 2, columns // 2)
    return Needs(operand, layers={"layer": f"nn.Upsample(scale_factor=2{more})"})


@operator("torch.nn.PixelShuffle", LAYER, dtypes=WIDE, rank=(4, 4), exact=True, name_hint="image")
def pixel_shuffle(draw: Draw, out: Spec) -> Needs:
    """After a convolution, as in networks that enlarge images."""
    batch, channels, rows, columns = readable(out).shape
    if static(rows) % 2 or static(columns) % 2:
        raise UnsatisfiableSpec("no whole multiple")
    operand = out.of(batch, 4 * static(channels), rows // 2, columns // 2)
    return Needs(operand, layers={"layer": "nn.PixelShuffle(2)"})


@operator("torch.nn.Sequential.convolution", dtypes=WIDE, rank=(4, 4), name_hint="features", weight=1.5)
def convolution_block(draw: Draw, out: Spec) -> Needs:
    """Convolution, batch norm in training, and an activation."""
    batch, channels, rows, columns = readable(out).shape
    if greatest(out.shape) // static(channels) < 2:
        raise UnsatisfiableSpec("one value in each channel")
    before, more = draw.choice((1, 3, 4)), keywords(out)
    conv = f"nn.Conv2d({before}, {channels}, 3, padding=1{draw.choice(('', ', bias=False'))}{more})"
    active = draw.choice(("nn.ReLU()", "nn.ReLU(inplace=True)", "nn.SiLU()", "nn.Hardswish()"))
    code = f"nn.Sequential({conv}, nn.BatchNorm2d({channels}{more}), {active})"
    bound = math.sqrt(greatest(out.shape) // channels) + 0.1
    operand = out.of(batch, before, rows, columns).within(-16.0, 16.0)
    return Needs(operand, values=Range(-0.5, bound), layers={"block": code}, forms=("{block}({0})",))
