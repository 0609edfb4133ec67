"""Matrix products with weights, convolutions, and what lays windows and channels out anew."""

from __future__ import annotations

import math

from eqfuzz.generate.dag.catalogue.operator import Needs, operator
from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.spec import FLOATS, INTEGERS, WIDE, Dim, Range, Spec, UnsatisfiableSpec
from eqfuzz.generate.dag.values.windows import Window, divisor, options, readable, static, transposed, window


def _weighted(count: int, biased: bool, x: Range, w: Range, *rest: Range) -> Range:
    """Sums of ``count`` products, and a bias."""
    total = (x * w).times(count)
    return total + rest[0] if biased else total


@operator("torch.nn.functional.linear", dtypes=(*FLOATS, "int64"), rank=(1, 5), exact=True, noun="hidden", weight=3)
def linear(draw: Draw, out: Spec) -> Needs:
    """With and without bias; of vectors too."""
    size = readable(out).shape
    features = draw.size(17)
    biased = draw.chance(0.6)
    given = [out.of(*size[:-1], features), out.of(size[-1], features).within(-1, 1)]
    forms = ("F.linear({0}, {1})",)
    if biased:
        given.append(out.of(size[-1]).within(-1, 1))
        forms = ("F.linear({0}, {1}, {2})", "F.linear({0}, {1}, bias={2})")
    return Needs(*given, values=lambda *r: _weighted(features, biased, *r), spellings=forms)


@operator("torch.nn.functional.bilinear", dtypes=("float32", "float64"), rank=(1, 4), noun="hidden")
def bilinear(draw: Draw, out: Spec) -> Needs:
    """Of two tensors, with and without bias."""
    size = readable(out).shape
    first, second = draw.size(6), draw.size(6)
    biased = draw.chance(0.5)
    given = [out.of(*size[:-1], first).within(-8, 8), out.of(*size[:-1], second).within(-8, 8)]
    given += [out.of(size[-1], first, second).within(-1, 1), *([out.of(size[-1]).within(-1, 1)] * biased)]
    form = "F.bilinear({0}, {1}, {2}, {3})" if biased else "F.bilinear({0}, {1}, {2})"
    bound = 64 * first * second + 1
    return Needs(*given, values=Range(-bound, bound), spellings=(form,))


def _forms(name: str, biased: bool, more: str) -> tuple[str, ...]:
    """The spellings of a convolution with its keywords ``more``."""
    if not biased:
        return (f"F.{name}({{0}}, {{1}}{more})", f"torch.{name}({{0}}, {{1}}{more})")
    holes = ("{0}, {1}, {2}", "{0}, {1}, bias={2}")
    return (*(f"F.{name}({hole}{more})" for hole in holes), f"torch.{name}({holes[0]}{more})")


# not in bfloat16: its kernels on the CPU read memory that is not theirs, as of PyTorch 2.13

for _name, _rank in (("conv1d", 1), ("conv2d", 2), ("conv3d", 3)):

    @operator(
        f"torch.nn.functional.{_name}", dtypes=WIDE, rank=(_rank + 1, _rank + 2), noun="features", weight=4 - _rank
    )
    def convolution(draw: Draw, out: Spec, _name: str = _name, _rank: int = _rank) -> Needs:
        """Strided, padded, dilated, in groups, with and without bias; unbatched too."""
        size = readable(out).shape
        before, channels, spatial = size[: -_rank - 1], size[-_rank - 1], size[-_rank:]
        groups = divisor(draw, channels) if draw.chance(0.35) else 1
        each = draw.choice((1, 1, 2)) if groups > 1 else draw.choice((1, 2, 3, 4, 8))
        padding = draw.choice(("same", "valid")) if draw.chance(0.2) else ""
        slid = window(draw, spatial, padded=0.0 if padding else 0.6, strided=0.0 if padding else 1)
        given, more = slid.given, options(draw, slid, "stride", "padding", "dilation")
        if padding == "same" or (padding and any(isinstance(n, Dim) for n in spatial)):
            given, more = spatial, ', padding="same"' + options(draw, slid, "dilation")
        elif padding:
            more = ', padding="valid"' + more
        more += f", groups={groups}" if groups > 1 else ""
        biased = draw.chance(0.5)
        specs = [readable(out.of(*before, groups * each, *given)), out.of(channels, each, *slid.kernel).within(-1, 1)]
        specs += [out.of(channels).within(-1, 1)] * biased
        count = each * slid.count
        return Needs(*specs, values=lambda *r: _weighted(count, biased, *r), spellings=_forms(_name, biased, more))


for _name, _rank in (("conv_transpose1d", 1), ("conv_transpose2d", 2), ("conv_transpose3d", 3)):

    @operator(
        f"torch.nn.functional.{_name}",
        dtypes=WIDE,
        rank=(_rank + 1, _rank + 2),
        noun="features",
        weight=2 - _rank / 2,
    )
    def transposed_convolution(draw: Draw, out: Spec, _name: str = _name, _rank: int = _rank) -> Needs:
        """Strided, padded on both sides of it, dilated, in groups, with and without bias; unbatched too."""
        size = readable(out).shape
        before, channels, spatial = size[: -_rank - 1], size[-_rank - 1], size[-_rank:]
        groups = divisor(draw, channels) if draw.chance(0.3) else 1
        each = draw.choice((1, 2)) if groups > 1 else draw.choice((1, 2, 3, 4))
        slid = transposed(draw, spatial)
        if any(over >= max(s, d) for over, s, d in zip(slid.over, slid.stride, slid.dilation, strict=True)):
            raise UnsatisfiableSpec("more output padding than it takes")
        more = options(draw, slid, "stride", "padding", "over")
        more += f", groups={groups}" if groups > 1 else ""
        more += options(draw, slid, "dilation")
        biased = draw.chance(0.5)
        weight = out.of(groups * each, channels // groups if groups > 1 else channels, *slid.kernel).within(-1, 1)
        specs = [readable(out.of(*before, groups * each, *slid.given)), weight]
        specs += [out.of(channels).within(-1, 1)] * biased
        count = each * slid.count
        return Needs(*specs, values=lambda *r: _weighted(count, biased, *r), spellings=_forms(_name, biased, more))


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
    noun="patches",
)
def unfold(draw: Draw, out: Spec) -> Needs:
    """Windows of an image as columns."""
    size = readable(out).shape
    slid = window(draw, _positions(draw, size[-1]))
    channels = static(size[-2])
    if channels % slid.count:
        raise UnsatisfiableSpec("no whole number of channels")
    given = out.of(*size[:-2], channels // slid.count, *slid.given)
    more = options(draw, slid, "dilation", "padding", "stride")
    return Needs(readable(given), values=lambda x: x.over(Range(0, 0, exact=True)), kernel=slid.kernel, more=more)


@operator(
    "torch.nn.functional.fold",
    "F.fold({0}, {to}, {kernel}{more})",
    "F.fold({0}, output_size={to}, kernel_size={kernel}{more})",
    dtypes=FLOATS,
    rank=(3, 4),
    exact=True,
    noun="image",
)
def fold(draw: Draw, out: Spec) -> Needs:
    """Columns added up as the windows of an image."""
    *before, channels, rows, columns = readable(out).shape
    slid = _folded(draw, (static(rows), static(columns)))
    count = math.prod(slid.given)
    given = out.of(*before, static(channels) * slid.count, count)
    more = options(draw, slid, "dilation", "padding", "stride")
    values = lambda x: x.times(slid.count)  # noqa: E731
    return Needs(readable(given), values=values, to=(rows, columns), kernel=slid.kernel, more=more)


def _folded(draw: Draw, size: tuple[int, int]) -> Window:
    """A window over ``size``; its ``given`` are the numbers of positions. Raises Unfit where there are none."""
    kernel, stride, padding = draw.choice((1, 2, 2, 3)), draw.choice((1, 1, 2)), draw.choice((0, 0, 1))
    dilation = draw.choice((1, 1, 1, 2))
    steps = [n + 2 * padding - dilation * (kernel - 1) - 1 for n in size]
    if min(steps) < 0:
        raise UnsatisfiableSpec("too small for the window")
    given = tuple(step // stride + 1 for step in steps)
    return Window((kernel,) * 2, (stride,) * 2, (padding,) * 2, (dilation,) * 2, given)


@operator(
    "torch.nn.functional.pixel_shuffle",
    "F.pixel_shuffle({0}, {factor})",
    "nn.PixelShuffle({factor})({0})",
    dtypes=FLOATS + INTEGERS,
    rank=(3, 5),
    exact=True,
    saves=False,
    noun="image",
)
def pixel_shuffle(draw: Draw, out: Spec) -> Needs:
    """Channels to pixels."""
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
    noun="image",
)
def pixel_unshuffle(draw: Draw, out: Spec) -> Needs:
    """Pixels to channels."""
    *before, channels, rows, columns = readable(out).shape
    factor = draw.choice([n for n in (1, 2, 3) if static(channels) % n**2 == 0])
    given = out.of(*before, channels // factor**2, static(rows) * factor, static(columns) * factor)
    return Needs(given, factor=factor)


@operator(
    "torch.nn.functional.channel_shuffle",
    "F.channel_shuffle({0}, {groups})",
    "torch.channel_shuffle({0}, groups={groups})",
    dtypes=FLOATS + INTEGERS,
    rank=(3, 5),
    exact=True,
    saves=False,
    noun="features",
)
def channel_shuffle(draw: Draw, out: Spec) -> Needs:
    """Groups of channels interleaved."""
    return Needs(out.free(), groups=divisor(draw, static(readable(out).shape[1])))
