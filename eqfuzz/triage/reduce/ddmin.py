"""Delta debugging (Zeller and Hildebrandt, TSE 2002): a 1-minimal subset with a property."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

_T = TypeVar("_T")


def ddmin(items: Sequence[_T], is_failing: Callable[[tuple[_T, ...]], bool]) -> tuple[_T, ...]:
    """A failing subset of ``items``, in order, of which no single item can be left out; all where they do not fail.

    ``is_failing`` is called at most once for each subset, with single items first: mostly one rewrite suffices.
    """
    answers: dict[tuple[int, ...], bool] = {}

    def holds(chosen: Sequence[int]) -> bool:
        key = tuple(chosen)
        if key not in answers:
            answers[key] = is_failing(tuple(items[index] for index in key))
        return answers[key]

    left = list(range(len(items)))
    for index in left:
        if holds([index]):
            return (items[index],)
    if not holds(left):
        return tuple(items)
    parts = 2
    while len(left) > 1:
        size = -(-len(left) // parts)
        chunks = [left[first : first + size] for first in range(0, len(left), size)]
        rests = [[i for i in left if i not in chunk] for chunk in chunks]
        smaller = next((c for c in [*chunks, *rests] if c and len(c) < len(left) and holds(c)), None)
        if smaller is not None:
            parts = max(2, parts - 1) if smaller in rests else 2
            left = smaller
        elif parts >= len(left):
            break
        else:
            parts = min(len(left), 2 * parts)
    return tuple(items[index] for index in left)
