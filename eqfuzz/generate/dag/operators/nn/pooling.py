"""Pooling, resizing, padding and sampling of the last dimensions."""

from __future__ import annotations

import dataclasses

from eqfuzz.generate.dag.catalogue.operator import Needs, operator
from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.spec import BOOL, COMPLEX, FLOATS, INTEGERS, WIDE, Dim, Range, Spec, UnsatisfiableSpec
from eqfuzz.generate.dag.values.windows import Window, one_or_all, options, readable, window

_WIDE = (*WIDE, "bfloat16")


def _sliding(draw: Draw, slid: Window, *names: str) -> str:
    """Keyword arguments of pooling, whose default stride is the kernel."""
    stride = "" if slid.stride == slid.kernel else f", stride={one_or_all(draw, slid.stride)}"
    return stride + options(draw, slid, *names)


def _pooled(
    draw: Draw, out: Spec, rank: int, *, padded: float, ceil: bool = False, dilates: bool = False
) -> tuple[Window, Spec]:
    """A window, and the input whose pooled result is ``out``."""
    slid = window(draw, readable(out).shape[-rank:], dilates=dilates, pools=True, ceil=ceil, padded=padded)
    return slid, readable(out.of(*out.shape[:-rank], *slid.input_size))


for _rank in (1, 2, 3):

    @operator(
        f"torch.nn.functional.max_pool{_rank}d",
        f"F.max_pool{_rank}d({{0}}, {{kernel}}{{more}})",
        f"F.max_pool{_rank}d({{0}}, kernel_size={{kernel}}{{more}})",
        f"torch.max_pool{_rank}d({{0}}, {{kernel}}{{more}})",
        dtypes=_WIDE,
        rank=(_rank + 1, _rank + 2),
        exact=True,
        name_hint="pooled",
        weight=2,
    )
    def max_pool(draw: Draw, out: Spec, _rank: int = _rank) -> Needs:
        """Strided, padded, dilated, with and without ``ceil_mode``."""
        ceil = draw.chance(0.3)
        slid, operand = _pooled(draw, out, _rank, dilates=True, ceil=ceil, padded=0.5)
        operand = operand.dense() if _rank == 3 else operand
        more = _sliding(draw, slid, "padding", "dilation") + (", ceil_mode=True" if ceil else "")
        return Needs(operand, kernel=one_or_all(draw, slid.kernel), more=more)

    @operator(
        f"torch.nn.functional.max_pool{_rank}d.indices",
        f"F.max_pool{_rank}d({{0}}, {{kernel}}{{more}}, return_indices=True)",
        f"F.max_pool{_rank}d_with_indices({{0}}, {{kernel}}{{more}})",
        dtypes=WIDE,
        rank=(_rank + 1, _rank + 2),
        name_hint="pooled",
        weight=0.7,
    )
    def max_pool_with_indices(draw: Draw, out: Spec, _rank: int = _rank) -> Needs:
        """With the indices of the maxima, of distinct values."""
        slid, operand = _pooled(draw, out, _rank, padded=0.4)
        places = Spec(out.size, "int64")
        kernel, more = one_or_all(draw, slid.kernel), _sliding(draw, slid, "padding")
        largest = lambda x: dataclasses.replace(x, distinct=False)  # noqa: E731
        distinct = dataclasses.replace(operand, distinct=True, finite=True, contiguous=_rank == 3)
        return Needs(distinct, values=largest, outputs=(out, places), kernel=kernel, more=more)

    @operator(
        f"torch.nn.functional.avg_pool{_rank}d",
        f"F.avg_pool{_rank}d({{0}}, {{kernel}}{{more}})",
        f"F.avg_pool{_rank}d({{0}}, kernel_size={{kernel}}{{more}})",
        dtypes=_WIDE if _rank < 3 else WIDE,
        rank=(_rank + 1, _rank + 2),
        name_hint="pooled",
        weight=2,
    )
    def avg_pool(draw: Draw, out: Spec, _rank: int = _rank) -> Needs:
        """Strided, padded, with and without ``ceil_mode``, ``count_include_pad`` and ``divisor_override``."""
        ceil = draw.chance(0.3)
        slid, operand = _pooled(draw, out, _rank, ceil=ceil, padded=0.5)
        if _rank == 3 and any(n < reach for n, reach in zip(slid.input_size, slid.kernel, strict=True)):
            raise UnsatisfiableSpec("the kernel is larger than the input")
        more = _sliding(draw, slid, "padding") + (", ceil_mode=True" if ceil else "")
        more += ", count_include_pad=False" if draw.chance(0.3) else ""
        over = draw.choice((1, 3, 5)) if _rank > 1 and draw.chance(0.25) else 0
        more += f", divisor_override={over}" if over else ""
        most = slid.count if over else 1
        return Needs(operand, values=lambda x: x.times(most), kernel=one_or_all(draw, slid.kernel), more=more)

    @operator(
        f"torch.nn.functional.adaptive_avg_pool{_rank}d",
        f"F.adaptive_avg_pool{_rank}d({{0}}, {{to}})",
        f"nn.AdaptiveAvgPool{_rank}d({{to}})({{0}})",
        dtypes=_WIDE,
        rank=(_rank + 1, _rank + 2),
        name_hint="pooled",
    )
    def adaptive_avg_pool(draw: Draw, out: Spec, _rank: int = _rank) -> Needs:
        """To a given size, from a smaller or a larger one."""
        operand, to = _adaptive(draw, out, _rank)
        return Needs(operand, values=lambda x: x.over(Range(0, 0)), to=to)

    if _rank < 3:

        @operator(
            f"torch.nn.functional.adaptive_max_pool{_rank}d",
            f"F.adaptive_max_pool{_rank}d({{0}}, {{to}})",
            f"nn.AdaptiveMaxPool{_rank}d({{to}})({{0}})",
            dtypes=_WIDE,
            rank=(_rank + 1, _rank + 2),
            exact=True,
            name_hint="pooled",
        )
        def adaptive_max_pool(draw: Draw, out: Spec, _rank: int = _rank) -> Needs:
            """To a given size, from a smaller or a larger one."""
            operand, to = _adaptive(draw, out, _rank)
            return Needs(operand, to=to)

        @operator(
            f"torch.nn.functional.lp_pool{_rank}d",
            f"F.lp_pool{_rank}d({{0}}, {{p}}, {{kernel}}{{more}})",
            f"F.lp_pool{_rank}d({{0}}, norm_type={{p}}, kernel_size={{kernel}}{{more}})",
            dtypes=_WIDE,
            rank=(_rank + 1, _rank + 2),
            name_hint="pooled",
        )
        def lp_pool(draw: Draw, out: Spec, _rank: int = _rank) -> Needs:
            """Norms of values bounded away from zero."""
            slid, operand = _pooled(draw, out, _rank, padded=0.0)
            if any(slid.padding):
                raise UnsatisfiableSpec("takes no padding")
            most = slid.count
            kernel = slid.kernel[0] if _rank == 1 else one_or_all(draw, slid.kernel)
            more = _sliding(draw, slid) if _rank == 2 or slid.stride == slid.kernel else f", stride={slid.stride[0]}"
            values = lambda x: Range(0, x.most * most)  # noqa: E731
            return Needs(
                operand.within(0.05, 8.0), values=values, p=draw.choice((1, 2, 2.0, 3)), kernel=kernel, more=more
            )


def _adaptive(draw: Draw, out: Spec, rank: int) -> tuple[Spec, int | tuple[int | None, ...] | str]:
    """The input, and the output size as an argument, sometimes with None for a dimension that keeps its size."""
    spatial = readable(out).shape[-rank:]
    keeps = [draw.chance(0.15) for _ in spatial]
    most = 12 if rank < 3 else 7
    sizes = [n if keep else draw.size(most) for n, keep in zip(spatial, keeps, strict=True)]
    if rank == 1:
        sizes, to = [draw.size(most)], one_or_all(draw, spatial)
    elif any(keeps):
        to = tuple(None if keep else n for n, keep in zip(spatial, keeps, strict=True))
    else:
        to = one_or_all(draw, spatial)
    return readable(out.of(*out.shape[:-rank], *sizes)), to


# Resizing

RESIZING_RANKS = {
    "nearest": (1, 2, 3),
    "nearest-exact": (1, 2, 3),
    "linear": (1,),
    "bilinear": (2,),
    "bicubic": (2,),
    "trilinear": (3,),
    "area": (1, 2, 3),
}
"""Numbers of spatial dimensions, by mode of ``interpolate``."""

for _mode, _of_ranks in RESIZING_RANKS.items():

    @operator(
        "torch.nn.functional.interpolate" + ("" if _mode == "nearest" else f".{_mode}"),
        f'F.interpolate({{0}}, {{to}}, mode="{_mode}"{{more}})',
        *(["F.interpolate({0}, {to})"] if _mode == "nearest" else []),
        f'nn.Upsample({{to}}, mode="{_mode}"{{more}})({{0}})',
        dtypes=_WIDE if _mode not in ("bilinear", "bicubic") else WIDE,
        rank=(min(_of_ranks) + 2, max(_of_ranks) + 2),
        name_hint="resized",
    )
    def interpolate(draw: Draw, out: Spec, _mode: str = _mode) -> Needs:
        """To a size or by a factor, with and without aligned corners."""
        spatial = readable(out).shape[2:]
        factor = draw.choice((2, 2, 3, 0.5)) if draw.chance(0.5) else 0
        if factor == 0.5:
            sizes = [2 * n + draw.integer(0, 1) for n in spatial]
        elif factor:
            if any(n % factor for n in spatial):
                raise UnsatisfiableSpec("no whole multiple")
            sizes = [n // int(factor) for n in spatial]
        else:
            sizes = [n if draw.chance(0.1) else draw.size(8) for n in spatial]
        to = f"scale_factor={factor}" if factor else f"size={tuple(spatial)}"
        if len(spatial) == 1 and not factor:
            to = f"size={spatial[0]}"
        smooth = _mode.endswith(("linear", "cubic"))
        more = draw.choice(("", ", align_corners=False", ", align_corners=True")) if smooth else ""
        operand = readable(out.of(*out.shape[:2], *sizes))
        if _mode in ("bilinear", "bicubic") and draw.chance(0.25):
            form = f'F.interpolate({{0}}, {to}, mode="{_mode}"{more}, antialias=True)'
            return Needs(operand, values=lambda x: x * Range(-3, 3), forms=(form,))
        values = lambda x: x * Range(-3, 3) if _mode == "bicubic" else x.over(x)  # noqa: E731
        return Needs(operand, values=values, to=to, more=more)


# Padding


@operator(
    "torch.nn.functional.pad",
    "F.pad({0}, {pads})",
    'F.pad({0}, {pads}, mode="constant", value={value})',
    "F.pad({0}, {pads}, value={value})",
    dtypes=FLOATS + INTEGERS + COMPLEX + BOOL,
    rank=(1, 5),
    exact=True,
    saves=False,
    name_hint="padded",
    weight=2,
)
def pad(draw: Draw, out: Spec) -> Needs:
    """With a constant, on any side, also negative padding, which crops."""
    size = list(readable(out).shape)
    pads: list[int] = []
    for axis in range(1, draw.integer(1, out.rank) + 1):
        before, after = draw.choice((0, 1, 2, 1, -1)), draw.choice((0, 1, 2, 1, -1))
        if isinstance(size[-axis], Dim):
            after = -before
        else:
            size[-axis] -= before + after
            if size[-axis] < 1 or size[-axis] + min(before, after, 0) < 1:
                raise UnsatisfiableSpec("all of it is padding")
        pads += [before, after]
    value = draw.choice((0, 1)) if not out.is_float or out.exact else draw.choice((0.0, 1, -0.5, 3))
    return Needs(
        out.of(*size), values=lambda x: x.over(Range(min(0, value), value, True)), pads=tuple(pads), value=value
    )


for _mode in ("reflect", "replicate", "circular"):

    @operator(
        f"torch.nn.functional.pad.{_mode}",
        f'F.pad({{0}}, {{pads}}, mode="{_mode}")',
        f'F.pad({{0}}, pad={{pads}}, mode="{_mode}")',
        dtypes=_WIDE,
        rank=(2, 5),
        exact=True,
        saves=False,
        name_hint="padded",
    )
    def pad_with_itself(draw: Draw, out: Spec, _mode: str = _mode) -> Needs:
        """With reflected, replicated or periodic values."""
        size = list(readable(out).shape)
        pads: list[int] = []
        for axis in range(1, (out.rank - 1 if out.rank < 4 and draw.chance(0.5) else max(1, out.rank - 2)) + 1):
            before, after = draw.choice((0, 1, 2)), draw.choice((0, 1, 2))
            if isinstance(size[-axis], Dim):
                raise UnsatisfiableSpec("calculates with a size that changes")
            size[-axis] -= before + after
            least = max(before, after) + (_mode == "reflect")
            if size[-axis] < max(1, least):
                raise UnsatisfiableSpec("more padding than there is")
            pads += [before, after]
        return Needs(out.of(*size), pads=tuple(pads))


# Sampling


@operator(
    "torch.nn.functional.grid_sample",
    'F.grid_sample({0}, {1}, mode="{mode}", padding_mode="{edge}", align_corners={aligned})',
    dtypes=WIDE,
    rank=(4, 5),
    name_hint="sampled",
)
def grid_sample(draw: Draw, out: Spec) -> Needs:
    """Of images and volumes, at positions inside."""
    spatial = readable(out).shape[2:]
    image = readable(out.of(*out.shape[:2], *(draw.size(7) for _ in spatial)))
    grid = out.of(out.shape[0], *spatial, len(spatial)).within(-0.9, 0.9)
    mode = "bicubic" if len(spatial) == 2 and draw.chance(0.3) else "bilinear"
    return Needs(
        image,
        grid,
        values=lambda x, g: x * Range(-3, 3),
        mode=mode,
        edge=draw.choice(("zeros", "border", "reflection")),
        aligned=draw.chance(0.5),
    )


@operator(
    "torch.nn.functional.affine_grid",
    "F.affine_grid({0}, {to}, align_corners={aligned})",
    "F.affine_grid({0}, size={to}, align_corners={aligned})",
    dtypes=WIDE,
    rank=(4, 5),
    name_hint="grid",
)
def affine_grid(draw: Draw, out: Spec) -> Needs:
    """The sampling grid of an affine transform of an image or a volume."""
    dimensions = out.rank - 2
    if isinstance(out.shape[-1], Dim) or readable(out).shape[-1] != dimensions:
        raise UnsatisfiableSpec("no coordinates")
    theta = out.of(out.shape[0], dimensions, dimensions + 1)
    to = (out.shape[0], draw.choice((1, 3)), *out.shape[1:-1])
    return Needs(theta, values=lambda x: x.over(-x).times(dimensions + 1), to=to, aligned=draw.chance(0.5))


@operator(
    "torch.nn.functional.grid_sample.affine",
    'F.grid_sample({0}, F.affine_grid({1}, {to}), padding_mode="{edge}")',
    'F.grid_sample({0}, F.affine_grid({1}, {to}, align_corners=False), padding_mode="{edge}", align_corners=False)',
    'F.grid_sample({0}, F.affine_grid({1}, {to}, align_corners=True), padding_mode="{edge}", align_corners=True)',
    dtypes=WIDE,
    rank=(4, 5),
    name_hint="sampled",
)
def spatial_transformer(draw: Draw, out: Spec) -> Needs:
    """An affine transform of an image, as in spatial transformers."""
    spatial = readable(out).shape[2:]
    image = readable(out.of(*out.shape[:2], *(draw.size(7) for _ in spatial)))
    theta = out.of(out.shape[0], len(spatial), len(spatial) + 1).within(-0.4, 0.4)
    edge = draw.choice(("border", "reflection", "zeros"))
    return Needs(image, theta, values=lambda x, t: x.times(1), to=out.shape, edge=edge)


@operator(
    "torch.nn.functional.max_pool2d.global",
    "F.max_pool2d({0}, {0}.shape[-2:])",
    "F.adaptive_max_pool2d({0}, 1)",
    dtypes=_WIDE,
    rank=(3, 4),
    exact=True,
    name_hint="pooled",
    weight=0.5,
)
def global_max_pool(draw: Draw, out: Spec) -> Needs:
    """Over a whole image."""
    if any(isinstance(n, Dim) or n != 1 for n in readable(out).shape[-2:]):
        raise UnsatisfiableSpec("not one pixel")
    return Needs(readable(out.of(*out.shape[:-2], draw.size(9), draw.size(9))))
