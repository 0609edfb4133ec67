"""Linear layers, convolutions, and rearrangements of windows and channels."""

from __future__ import annotations

import math

from eqfuzz.generate.dag.catalogue.operator import Needs, operator
from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.spec import FLOATS, INTEGERS, WIDE, Dim, Range, Spec, UnsatisfiableSpec
from eqfuzz.generate.dag.values.windows import Window, divisor, options, readable, static, transposed, window


def _weighted(count: int, biased: bool, x: Range, w: Range, *rest: Range) -> Range:
    """The range of sums of ``count`` products, plus a bias."""
    total = (x * w).times(count)
    return total + rest[0] if biased else total


@operator(
    "torch.nn.functional.linear", dtypes=(*FLOATS, "int64"), rank=(1, 5), exact=True, name_hint="hidden", weight=3
)
def linear(draw: Draw, out: Spec) -> Needs:
    """With and without bias; also of vectors."""
    size = readable(out).shape
    features = draw.size(17)
    biased = draw.chance(0.6)
    operands = [out.of(*size[:-1], features), out.of(size[-1], features).within(-1, 1)]
    forms = ("F.linear({0}, {1})",)
    if biased:
        operands.append(out.of(size[-1]).within(-1, 1))
        forms = ("F.linear({0}, {1}, {2})", "F.linear({0}, {1}, bias={2})")
    return Needs(*operands, values=lambda *r: _weighted(features, biased, *r), forms=forms)


@operator("torch.nn.functional.bilinear", dtypes=("float32", "float64"), rank=(1, 4), name_hint="hidden")
def bilinear(draw: Draw, out: Spec) -> Needs:
    """Of two tensors, with and without bias."""
    size = readable(out).shape
    first, second = draw.size(6), draw.size(6)
    biased = draw.chance(0.5)
    operands = [out.of(*size[:-1], first).within(-8, 8), out.of(*size[:-1], second).within(-8, 8)]
    operands += [out.of(size[-1], first, second).within(-1, 1), *([out.of(size[-1]).within(-1, 1)] * biased)]
    form = "F.bilinear({0}, {1}, {2}, {3})" if biased else "F.bilinear({0}, {1}, {2})"
    bound = 64 * first * second + 1
    return Needs(*operands, values=Range(-bound, bound), forms=(form,))


def _forms(name: str, biased: bool, more: str) -> tuple[str, ...]:
    """The forms of a convolution with the keyword arguments ``more``."""
    if not biased:
        return (f"F.{name}({{0}}, {{1}}{more})", f"torch.{name}({{0}}, {{1}}{more})")
    holes = ("{0}, {1}, {2}", "{0}, {1}, bias={2}")
    return (*(f"F.{name}({hole}{more})" for hole in holes), f"torch.{name}({holes[0]}{more})")


# not in bfloat16: its kernels on the CPU read memory that is not theirs, as of PyTorch 2.13

for _name, _rank in (("conv1d", 1), ("conv2d", 2), ("conv3d", 3)):

    @operator(
        f"torch.nn.functional.{_name}", dtypes=WIDE, rank=(_rank + 1, _rank + 2), name_hint="features", weight=4 - _rank
    )
    def convolution(draw: Draw, out: Spec, _name: str = _name, _rank: int = _rank) -> Needs:
        """Strided, padded, dilated, grouped, with and without bias; also without batch dimension."""
        size = readable(out).shape
        before, channels, spatial = size[: -_rank - 1], size[-_rank - 1], size[-_rank:]
        groups = divisor(draw, channels) if draw.chance(0.35) else 1
        each = draw.choice((1, 1, 2)) if groups > 1 else draw.choice((1, 2, 3, 4, 8))
        padding = draw.choice(("same", "valid")) if draw.chance(0.2) else ""
        slid = window(draw, spatial, padded=0.0 if padding else 0.6, strided=0.0 if padding else 1)
        input_size, more = slid.input_size, options(draw, slid, "stride", "padding", "dilation")
        if padding == "same" or (padding and any(isinstance(n, Dim) for n in spatial)):
            input_size, more = spatial, ', padding="same"' + options(draw, slid, "dilation")
        elif padding:
            more = ', padding="valid"' + more
        more += f", groups={groups}" if groups > 1 else ""
        biased = draw.chance(0.5)
        specs = [
            readable(out.of(*before, groups * each, *input_size)),
            out.of(channels, each, *slid.kernel).within(-1, 1),
        ]
        specs += [out.of(channels).within(-1, 1)] * biased
        count = each * slid.count
        return Needs(*specs, values=lambda *r: _weighted(count, biased, *r), forms=_forms(_name, biased, more))


for _name, _rank in (("conv_transpose1d", 1), ("conv_transpose2d", 2), ("conv_transpose3d", 3)):

    @operator(
        f"torch.nn.functional.{_name}",
        dtypes=WIDE,
        rank=(_rank + 1, _rank + 2),
        name_hint="features",
        weight=2 - _rank / 2,
    )
    def transposed_convolution(draw: Draw, out: Spec, _name: str = _name, _rank: int = _rank) -> Needs:
        """Strided, with input and output padding, dilated, grouped, with and without bias; also without batch."""
        size = readable(out).shape
        before, channels, spatial = size[: -_rank - 1], size[-_rank - 1], size[-_rank:]
        groups = divisor(draw, channels) if draw.chance(0.3) else 1
        each = draw.choice((1, 2)) if groups > 1 else draw.choice((1, 2, 3, 4))
        slid = transposed(draw, spatial)
        if any(over >= max(s, d) for over, s, d in zip(slid.output_padding, slid.stride, slid.dilation, strict=True)):
            raise UnsatisfiableSpec("more output padding than it takes")
        more = options(draw, slid, "stride", "padding", "output_padding")
        more += f", groups={groups}" if groups > 1 else ""
        more += options(draw, slid, "dilation")
        biased = draw.chance(0.5)
        weight = out.of(groups * each, channels // groups if groups > 1 else channels, *slid.kernel).within(-1, 1)
        specs = [readable(out.of(*before, groups * each, *slid.input_size)), weight]
        specs += [out.of(channels).within(-1, 1)] * biased
        count = each * slid.count
        return Needs(*specs, values=lambda *r: _weighted(count, biased, *r), forms=_forms(_name, biased, more))


def _positions(draw: Draw, count: int) -> tuple[int, int]:
    rows = divisor(draw, static(count))
    return rows, count // rows


@operator(
    "torch.nn.functional.unfold",
    "F.unfold({0}, {kernel}{more})",
    "F.unfold({0}, kernel_size={kernel}{more})",
    "nn.Unfold({kernel}{more})({0})",
    dtypes=FLOATS,
    rank=(2, 3),
    exact=True,
    name_hint="patches",
)
def unfold(draw: Draw, out: Spec) -> Needs:
    """The windows of an image as columns."""
    size = readable(out).shape
    slid = window(draw, _positions(draw, size[-1]))
    channels = static(size[-2])
    if channels % slid.count:
        raise UnsatisfiableSpec("no whole number of channels")
    operand = out.of(*size[:-2], channels // slid.count, *slid.input_size)
    more = options(draw, slid, "dilation", "padding", "stride")
    return Needs(readable(operand), values=lambda x: x.over(Range(0, 0, exact=True)), kernel=slid.kernel, more=more)


@operator(
    "torch.nn.functional.fold",
    "F.fold({0}, {to}, {kernel}{more})",
    "F.fold({0}, output_size={to}, kernel_size={kernel}{more})",
    dtypes=FLOATS,
    rank=(3, 4),
    exact=True,
    name_hint="image",
)
def fold(draw: Draw, out: Spec) -> Needs:
    """Columns summed as the windows of an image."""
    *before, channels, rows, columns = readable(out).shape
    slid = _folded(draw, (static(rows), static(columns)))
    count = math.prod(slid.input_size)
    operand = out.of(*before, static(channels) * slid.count, count)
    more = options(draw, slid, "dilation", "padding", "stride")
    values = lambda x: x.times(slid.count)  # noqa: E731
    return Needs(readable(operand), values=values, to=(rows, columns), kernel=slid.kernel, more=more)


def _folded(draw: Draw, size: tuple[int, int]) -> Window:
    """A window over ``size``; its ``input_size`` are the numbers of positions. Raises UnsatisfiableSpec."""
    kernel, stride, padding = draw.choice((1, 2, 2, 3)), draw.choice((1, 1, 2)), draw.choice((0, 0, 1))
    dilation = draw.choice((1, 1, 1, 2))
    steps = [n + 2 * padding - dilation * (kernel - 1) - 1 for n in size]
    if min(steps) < 0:
        raise UnsatisfiableSpec("too small for the window")
    positions = tuple(step // stride + 1 for step in steps)
    return Window((kernel,) * 2, (stride,) * 2, (padding,) * 2, (dilation,) * 2, positions)


@operator(
    "torch.nn.functional.pixel_shuffle",
    "F.pixel_shuffle({0}, {factor})",
    "nn.PixelShuffle({factor})({0})",
    dtypes=FLOATS + INTEGERS,
    rank=(3, 5),
    exact=True,
    saves=False,
    name_hint="image",
)
def pixel_shuffle(draw: Draw, out: Spec) -> Needs:
    """Channels rearranged to pixels."""
    *before, channels, rows, columns = readable(out).shape
    factor = draw.choice([n for n in (1, 2, 3, 4) if static(rows) % n == 0 and static(columns) % n == 0])
    return Needs(out.of(*before, static(channels) * factor**2, rows // factor, columns // factor), factor=factor)


@operator(
    "torch.nn.functional.pixel_unshuffle",
    "F.pixel_unshuffle({0}, {factor})",
    "nn.PixelUnshuffle({factor})({0})",
    dtypes=FLOATS + INTEGERS,
    rank=(3, 5),
    exact=True,
    saves=False,
    name_hint="image",
)
def pixel_unshuffle(draw: Draw, out: Spec) -> Needs:
    """Pixels rearranged to channels."""
    *before, channels, rows, columns = readable(out).shape
    factor = draw.choice([n for n in (1, 2, 3) if static(channels) % n**2 == 0])
    operand = out.of(*before, channels // factor**2, static(rows) * factor, static(columns) * factor)
    return Needs(operand, factor=factor)


@operator(
    "torch.nn.functional.channel_shuffle",
    "F.channel_shuffle({0}, {groups})",
    "torch.channel_shuffle({0}, groups={groups})",
    dtypes=FLOATS + INTEGERS,
    rank=(3, 5),
    exact=True,
    saves=False,
    name_hint="features",
)
def channel_shuffle(draw: Draw, out: Spec) -> Needs:
    """Groups of channels interleaved."""
    return Needs(out.free(), groups=divisor(draw, static(readable(out).shape[1])))
