"""Did-you-mean suggestions for names that do not exist."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

CUTOFF = 0.5
"""How similar a suggested name is at least, from 0 to 1 (equal)."""


def similar(name: str, names: Iterable[str], *, limit: int, cutoff: float = CUTOFF) -> list[str]:
    """Up to ``limit`` of the ``known`` names, the most similar first."""
    return difflib.get_close_matches(name, list(names), n=limit, cutoff=cutoff)


def closest(name: str, names: Iterable[str], *, cutoff: float = CUTOFF) -> str | None:
    """The most similar of the ``known`` names, None where none is similar enough."""
    return next(iter(similar(name, names, limit=1, cutoff=cutoff)), None)


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """``, did you mean 'x'?`` or nothing."""
    suggestion = closest(name, names)
    return f", did you mean {suggestion!r}?" if suggestion else ""
