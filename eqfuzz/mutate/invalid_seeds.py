"""Invalid seeds grouped by reason; a check whether too many of the shipped ones are invalid."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path, PurePath

from eqfuzz.events.run import InvalidReason
from eqfuzz.oracle.observe.normalised_messages import normalised
from eqfuzz.program.shipped import is_shipped

SEEDS_NAMED = 5
"""Number of seeds that are named per reason."""

REASON_LENGTH = 300

TRIED_AT_LEAST = 10
INVALID_AT_MOST = 0.1
"""Of at least so many shipped seeds, a larger share of invalid ones means a broken installation."""

_NUMBERS = re.compile(r"N(?:, ?N)+")

_Entry = tuple[int, str, str]
"""Index, seed, and reason, as in ``SeedInvalid``."""


class InvalidSeeds:
    """Collects the seeds that were tried and those that were invalid. Each draw of a seed counts."""

    def __init__(self) -> None:
        self._entries: list[_Entry] = []
        self._shipped: dict[str, bool] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def add(self, index: int, seed: str, reason: str) -> None:
        """The seed is invalid; ``reason`` is as ``str(InvalidSeed)`` has it."""
        self._entries.append((index, seed, reason))

    def add_tried(self, seed: str) -> None:
        """The seed was run to its end, or is invalid."""
        if seed not in self._shipped:
            self._shipped[seed] = is_shipped(Path(seed), "seeds")

    def reasons(self) -> list[InvalidReason]:
        """All reasons, the most frequent first."""
        return _grouped(self._entries)

    def broken_installation(self, torch: str) -> list[str]:
        """One line if too many of the shipped seeds are invalid, else none; ``torch`` is its version.

        All of them are valid where torch and eqfuzz work.
        """
        tried = sum(self._shipped.values())
        shipped = [one for one in self._entries if self._shipped.get(one[1])]
        invalid = len({seed for _, seed, _ in shipped})
        if tried < TRIED_AT_LEAST or invalid <= INVALID_AT_MOST * tried:
            return []
        most = _grouped(shipped)[0]
        count = f"{invalid} of {tried} shipped seeds are invalid with torch {torch}, {most.count} of them like"
        return [f"this installation is broken: {count} {most.place}: {most.reason}"]


def _grouped(entries: Sequence[_Entry]) -> list[InvalidReason]:
    groups: dict[str, list[tuple[str, str, str]]] = {}
    for _, seed, line in sorted(entries):
        place, reason = _split(seed, line)
        groups.setdefault(_without_variable_parts(seed, reason), []).append((seed, place, reason))
    reasons = []
    for shared, members in groups.items():
        _, place, reason = members[0]
        is_one = all(other == reason for _, _, other in members)
        seeds = list(dict.fromkeys(seed for seed, _, _ in members))[:SEEDS_NAMED]
        reasons.append(
            InvalidReason(reason=_shortened(reason) if is_one else shared, count=len(members), seeds=seeds, place=place)
        )
    return sorted(reasons, key=lambda group: -group.count)


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
