"""Random specs for the outputs of programs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from eqfuzz.generate.dag.template import ProgramTemplate
from eqfuzz.generate.dag.values.draw import LARGE, Draw
from eqfuzz.generate.dag.values.spec import Dim, Spec

MOST_ELEMENTS = 4096


def random_spec(
    draw: Draw,
    template: ProgramTemplate,
    dtypes: Iterable[str],
    ranks: range,
    dims: Sequence[Dim],
    *,
    small: bool = False,
) -> Spec:
    """A random spec of one of the dtypes and ranks, by the weights of the template. Raises UnsatisfiableSpec.

    ``small``: with sizes 1, 2 and 4 only, which many operators need. Dtypes that the template does not name are drawn
    only where it names none of ``dtypes``.
    """
    among = sorted(dtypes)
    weights = {dtype: template.dtypes.get(dtype, 0.0) for dtype in among}
    if not any(weights.values()):
        weights = dict.fromkeys(among, 1.0)
    dtype = draw.weighted(weights)
    by_rank = {rank: template.ranks.get(rank, 0.0) for rank in ranks if rank >= 0}
    if not any(by_rank.values()):
        by_rank = dict.fromkeys(by_rank, 1.0)
    if not by_rank:
        return Spec(None, dtype)
    rank = draw.weighted(by_rank)
    size: list[int] = []
    count = 1
    for _ in range(rank):
        n = draw.choice((1, 1, 2, 4)) if small else draw.size(17 if rank < 4 else 6)
        if not small and draw.chance(0.06) and rank < 4:
            n = draw.choice(LARGE)
        if draw.chance(template.empty):
            n = 0
        if dims and draw.chance(0.45):
            n = draw.choice(dims)
        if count * int(n) > MOST_ELEMENTS:
            n = 2
        count *= max(1, int(n))
        size.append(n)
    return Spec(tuple(size), dtype, exact=template.exact > 0 and draw.chance(template.exact))


def changing_sizes(draw: Draw, template: ProgramTemplate) -> dict[str, Dim]:
    """The changing sizes of a program, by name; none in most programs."""
    if not draw.chance(template.dynamic):
        return {}
    return {name: Dim(draw.choice((5, 7, 11, 13)), name) for name in ("n", "m")[: draw.choice((1, 1, 2))]}
