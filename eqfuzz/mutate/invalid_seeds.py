"""Invalid seeds grouped by reason, and whether so many of the shipped ones are that eqfuzz cannot work here."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path, PurePath

from eqfuzz.events.run import InvalidReason
from eqfuzz.oracle.observe.normalised_messages import normalised
from eqfuzz.program.shipped import is_shipped

SEEDS_NAMED = 5
"""Seeds of one reason that are named."""

REASON_LENGTH = 300

TRIED_AT_LEAST = 10
INVALID_AT_MOST = 0.1
"""From so many shipped seeds on, a larger share of invalid ones is laid to the installation."""

_NUMBERS = re.compile(r"N(?:, ?N)+")

_Told = tuple[int, str, str]
"""Index, seed, and the line that says what is wrong."""


class InvalidSeeds:
    """Takes down which seeds were tried and which were invalid. A seed that a campaign draws again counts each time."""

    def __init__(self) -> None:
        self._told: list[_Told] = []
        self._shipped: dict[str, bool] = {}

    def __len__(self) -> int:
        return len(self._told)

    def add(self, index: int, seed: str, reason: str) -> None:
        """The seed is invalid; ``reason`` is as ``str(InvalidSeed)`` has it."""
        self._told.append((index, seed, reason))

    def add_tried(self, seed: str) -> None:
        """The seed was run to its end, or is invalid."""
        if seed not in self._shipped:
            self._shipped[seed] = is_shipped(Path(seed), "seeds")

    def reasons(self) -> list[InvalidReason]:
        """All of them, the most frequent first."""
        return _grouped(self._told)

    def broken_installation(self, torch: str) -> list[str]:
        """A line that says so where too many of the shipped seeds are invalid under torch of this version, else none.

        They are all valid where torch and eqfuzz work.
        """
        tried = sum(self._shipped.values())
        shipped = [one for one in self._told if self._shipped.get(one[1])]
        invalid = len({seed for _, seed, _ in shipped})
        if tried < TRIED_AT_LEAST or invalid <= INVALID_AT_MOST * tried:
            return []
        most = _grouped(shipped)[0]
        told = f"{invalid} of {tried} shipped seeds are invalid with torch {torch}, {most.count} of them like"
        return [f"this installation is broken: {told} {most.place}: {most.reason}"]


def _grouped(told: Sequence[_Told]) -> list[InvalidReason]:
    groups: dict[str, list[tuple[str, str, str]]] = {}
    for _, seed, line in sorted(told):
        place, reason = _split(seed, line)
        groups.setdefault(_without_variable_parts(seed, reason), []).append((seed, place, reason))
    found = []
    for shared, members in groups.items():
        _, place, reason = members[0]
        is_one = all(other == reason for _, _, other in members)
        seeds = list(dict.fromkeys(seed for seed, _, _ in members))[:SEEDS_NAMED]
        found.append(
            InvalidReason(reason=_shortened(reason) if is_one else shared, count=len(members), seeds=seeds, place=place)
        )
    return sorted(found, key=lambda group: -group.count)


def _split(seed: str, line: str) -> tuple[str, str]:
    """``a.py:3: no inputs`` as ``a.py:3`` and ``no inputs``."""
    begins = re.match(rf"({re.escape(seed)}(?::\d+)?): ", line)
    reason = line[begins.end() :] if begins is not None else line
    return begins[1] if begins is not None else seed, " ".join(reason.split())


def _without_variable_parts(seed: str, reason: str) -> str:
    for name in (seed, PurePath(seed).name):
        reason = reason.replace(name, "…")
    return _NUMBERS.sub("N", normalised(reason))


def _shortened(reason: str) -> str:
    return reason if len(reason) <= REASON_LENGTH else reason[:REASON_LENGTH].rstrip() + " …"
