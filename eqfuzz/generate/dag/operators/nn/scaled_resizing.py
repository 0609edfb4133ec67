"""Resizing by fractional factors, one for each dimension."""

from __future__ import annotations

from collections.abc import Sequence

from eqfuzz.generate.dag.catalogue.operator import Needs, operator
from eqfuzz.generate.dag.operators.nn.pooling import RESIZING_RANKS
from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.spec import WIDE, Range, Spec, UnsatisfiableSpec
from eqfuzz.generate.dag.values.windows import readable

_FACTORS = (1.5, 0.75, 1.25, 2.5, 0.7, 1.3, 0.4, 2.0, 0.5, 1.0, 1.6)
_LONGEST = 24


def _scaled(draw: Draw, n: int, factor: float) -> int:
    """A size that ``factor`` turns into ``n``. Raises UnsatisfiableSpec where there is none."""
    return draw.choice([size for size in range(1, _LONGEST) if int(size * factor) == n])


def _factors(draw: Draw, sizes: Sequence[int]) -> tuple[list[int], str]:
    """Sizes before the resizing, and the factors as an argument."""
    one = draw.choice(_FACTORS)
    if draw.chance(0.3):
        return [_scaled(draw, n, one) for n in sizes], str(one)
    factors = []
    for n in sizes:
        among = [factor for factor in _FACTORS if any(int(size * factor) == n for size in range(1, _LONGEST))]
        factors.append(draw.choice(among))
    before = [_scaled(draw, n, factor) for n, factor in zip(sizes, factors, strict=True)]
    return before, f"({', '.join(map(str, factors))}{',' * (len(factors) == 1)})"


for _mode, _of_ranks in RESIZING_RANKS.items():

    @operator(
        f"torch.nn.functional.interpolate.factors.{_mode}",
        f'F.interpolate({{0}}, scale_factor={{factors}}, mode="{_mode}"{{more}})',
        f'nn.Upsample(scale_factor={{factors}}, mode="{_mode}"{{more}})({{0}})',
        dtypes=(*WIDE, "bfloat16") if _mode not in ("bilinear", "bicubic") else WIDE,
        rank=(min(_of_ranks) + 2, max(_of_ranks) + 2),
        family="pooling",
        name_hint="resized",
    )
    def interpolate(draw: Draw, out: Spec, _mode: str = _mode) -> Needs:
        """By fractional factors, with and without recomputed factors and aligned corners."""
        spatial = readable(out).shape[2:]
        if not out.of(*spatial).is_static:
            raise UnsatisfiableSpec("a factor of a size that changes")
        before, factors = _factors(draw, spatial)
        smooth = _mode.endswith(("linear", "cubic"))
        words = [f"align_corners={draw.chance(0.4)}"] if smooth and draw.chance(0.7) else []
        if draw.chance(0.4):
            words.append(f"recompute_scale_factor={draw.chance(0.8)}")
        operand = readable(out.of(*out.shape[:2], *before))
        widened = lambda x: x * Range(-3, 3)  # noqa: E731
        antialias = _mode in ("bilinear", "bicubic") and draw.chance(0.35)
        more = "".join(f", {word}" for word in words)
        if antialias:
            form = f'F.interpolate({{0}}, scale_factor={factors}, mode="{_mode}"{more}, antialias=True)'
            return Needs(operand, values=widened, forms=[form])
        values = widened if _mode == "bicubic" else lambda x: x.over(x)
        return Needs(operand, values=values, factors=factors, more=more)
