"""``--format json``: one event per line, seed by seed in the order of the seeds, the summary last."""

from __future__ import annotations

import json
import math
from types import TracebackType
from typing import Any, TextIO

from eqfuzz.events.catalogue import SweepSummary
from eqfuzz.events.coverage import CoverageSummary, ProgramCovered
from eqfuzz.events.event import Event
from eqfuzz.events.generate import ProgramsRun
from eqfuzz.events.model_check import ModelCheckSummary
from eqfuzz.events.rules import CheckSummary, RuleChecked, RuleMeasured
from eqfuzz.events.run import SeedDone, Summary
from eqfuzz.events.seeds import ModelImported, SeedChecked, SeedsSummary
from eqfuzz.events.speed import SeedTimed

_LAST = (SeedDone, SeedTimed, ProgramCovered, RuleChecked, RuleMeasured, ModelImported, SeedChecked)
"""The last event of a seed or a rule."""

_SUMMARIES = (Summary, CheckSummary, ModelCheckSummary, CoverageSummary, ProgramsRun, SeedsSummary, SweepSummary)


class JsonLines:
    """Writes events to ``stream``; as a context manager it flushes held events at the end.

    Events of a seed (or rule) are held until all seeds before it are done, so that two equal runs write the same lines
    (except for times) in whatever order their jobs end.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._turn = 0
        self._held: dict[int, list[Event]] = {}
        self._done: set[int] = set()

    def __enter__(self) -> JsonLines:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not isinstance(error, BrokenPipeError):
            self.flush()

    def handle(self, event: Event) -> None:
        """Write or hold one event. Not to be called by two threads at once."""
        index = getattr(event, "index", None)
        if isinstance(event, _SUMMARIES):
            self.flush()
            self._write(event)
        elif index is None:
            self._write(event)
        elif index == self._turn:
            self._write(event)
            if isinstance(event, _LAST):
                self._next()
        else:
            self._held.setdefault(index, []).append(event)
            if isinstance(event, _LAST):
                self._done.add(index)

    def flush(self) -> None:
        """Write all held events: an interrupted run leaves seeds that will never be done."""
        for index in sorted(self._held):
            for event in self._held.pop(index):
                self._write(event)

    def _next(self) -> None:
        """Advance to the next seed that is not done, writing the held events of all up to it."""
        finished = True
        while finished:
            self._turn += 1
            for event in self._held.pop(self._turn, ()):
                self._write(event)
            finished = self._turn in self._done

    def _write(self, event: Event) -> None:
        self._stream.write(to_line(event) + "\n")
        self._stream.flush()


def to_line(event: Event) -> str:
    """One line of valid JSON; numbers that JSON does not have (nan, inf) are strings."""
    return json.dumps(plain_json(event.to_json()), allow_nan=False, default=str)


def plain_json(value: Any) -> Any:
    """``value`` with texts in place of numbers that JSON does not have."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {str(key): plain_json(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain_json(inner) for inner in value]
    return value
