"""What the runs of a check have said about each program, and the outcome of a use."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from eqfuzz.errors import one_line
from eqfuzz.events.event import Event, Handler
from eqfuzz.events.model_check import UseChecked
from eqfuzz.events.run import CellJudged, FindingReported, SeedDone, SeedInvalid, SeedStarted, Summary
from eqfuzz.oracle.compare.verdict import Verdict, VerdictKind

AGREES, DIFFERS, KNOWN, NOT_COMPARABLE = "agrees", "differs", "known issue", "not comparable"
UNSUPPORTED, NOTHING_COMPILED, INVALID, NOT_TRIED = "unsupported", "nothing compiled", "invalid", "not tried"

_ORDER = (DIFFERS, KNOWN, NOT_COMPARABLE, UNSUPPORTED, NOTHING_COMPILED, AGREES)
"""Outcomes of cells, the one that decides for the use first."""

_LONGEST_MESSAGE = 300


def unusable(uses: Sequence[UseChecked]) -> str:
    """Why no use of a model can be run in eager; empty where one can."""
    is_unusable = all(use.outcome in (INVALID, NOT_TRIED) for use in uses)
    return next((use.message for use in uses if use.outcome == INVALID), "") if is_unusable else ""


class CheckLog:
    """What the runs have said about each program."""

    def __init__(self, handler: Handler) -> None:
        self._handler = handler
        self._programs = 0
        """Programs of the runs that have ended: the numbers of the next run's come after them."""
        self._names: dict[int, str] = {}
        """The program of each number of the run."""
        self._cells: dict[str, list[_CheckedCell]] = {}
        self._unconfirmed: dict[str, list[_CheckedCell]] = {}
        """The cells that the next finding of a program is about."""
        self._invalid: dict[str, str] = {}
        self._seconds: dict[str, float] = {}

    def handle(self, event: Event) -> None:
        """Note an event and hand it on, unless it is the summary of a run."""
        self.note(event)
        if isinstance(event, Summary):
            self._programs += event.seeds
            return
        index = getattr(event, "index", None)
        self._handler(event if index is None else dataclasses.replace(event, index=self._programs + index))

    def note(self, event: Event) -> None:
        """Note an event of a run that is not reported."""
        match event:
            case SeedStarted():
                self._names[event.index] = event.seed
            case CellJudged() if event.config:
                cell = _CheckedCell(event)
                self._cells.setdefault(event.seed, []).append(cell)
                if event.verdict.is_finding:
                    self._unconfirmed.setdefault(event.seed, []).append(cell)
            case FindingReported():
                # A finding of an earlier run has the name that its program had there.
                for cell in self._unconfirmed.pop(self._names[event.index], []):
                    cell.finding = event
            case SeedInvalid():
                self._invalid[event.seed] = event.reason
            case SeedDone():
                self._seconds[event.seed] = event.cpu_seconds
            case _:
                pass

    def checked(self, title: str, path: Path, *, variants: bool) -> UseChecked:
        """What came of the original, or of its ``variants``."""
        name = str(path)
        cells = [cell for cell in self._cells.get(name, []) if bool(cell.event.variant) is variants]
        seconds = 0.0 if variants else round(self._seconds.get(name, 0.0), 3)
        if name in self._invalid and not variants:
            return UseChecked(title=title, outcome=INVALID, message=self._invalid[name], seconds=seconds)
        if not cells or (name not in self._seconds and not any(cell.finding for cell in cells)):
            return UseChecked(title=title, outcome=NOT_TRIED)
        gravest = min(cells, key=lambda cell: _ORDER.index(cell.outcome))
        finding = gravest.finding
        return UseChecked(
            title=title,
            outcome=gravest.outcome,
            cells=len(cells),
            graphs=sum((cell.event.compiled or {}).get("graphs", 0) for cell in cells),
            message="" if gravest.outcome in (AGREES, NOTHING_COMPILED) else _in_words(gravest.event.verdict),
            kind=str(gravest.event.verdict.kind),
            finding=finding.finding.id if finding is not None else "",
            issue=finding.issue if finding is not None else "",
            seconds=seconds,
        )


@dataclasses.dataclass
class _CheckedCell:
    """A cell, and the finding that was confirmed for it."""

    event: CellJudged
    finding: FindingReported | None = None

    @property
    def outcome(self) -> str:
        if self.finding is not None:
            return KNOWN if self.finding.issue else DIFFERS
        kind = self.event.verdict.kind
        if kind is VerdictKind.AGREE:
            compiled = self.event.compiled
            return NOTHING_COMPILED if compiled is not None and not compiled.get("graphs") else AGREES
        return UNSUPPORTED if kind is VerdictKind.UNSUPPORTED else NOT_COMPARABLE


def _in_words(verdict: Verdict) -> str:
    return one_line(f"{verdict.kind}: {verdict.in_words}", _LONGEST_MESSAGE)
