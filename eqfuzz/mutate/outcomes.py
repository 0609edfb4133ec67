"""Outcomes of seeds: one word for each seed that was run to its end."""

from __future__ import annotations

from enum import StrEnum

from eqfuzz.events.event import Event
from eqfuzz.events.run import CellJudged, FindingReported, SeedDone, SeedInvalid
from eqfuzz.oracle.compare.verdict import VerdictKind


class SeedOutcome(StrEnum):
    """What a seed has shown, the gravest last."""

    OK = "ok"
    """A compiled cell agrees, and nothing is left open."""
    UNDECIDED = "undecided"
    """No compiled cell agrees, or one is flaky, inconclusive or another open question."""
    INVALID = "invalid"
    IGNORED = "ignored"
    """Its findings are known issues."""
    FAILED = "failed"
    """It has a finding that is no known issue."""


_SETTLED = (VerdictKind.AGREE, VerdictKind.UNSUPPORTED)


class SeedOutcomes:
    """Outcomes of seeds from the events of a run."""

    def __init__(self) -> None:
        self.by_index: dict[int, SeedOutcome] = {}
        """Of the seeds that were run to their end, by their index in the run."""
        self._gravest: dict[int, SeedOutcome] = {}

    def count_event(self, event: Event) -> None:
        match event:
            case FindingReported(index=index, issue=issue):
                self._raise_to(index, SeedOutcome.IGNORED if issue else SeedOutcome.FAILED)
            case SeedInvalid(index=index):
                self._raise_to(index, SeedOutcome.INVALID)
            case CellJudged(index=index, verdict=verdict):
                if verdict.kind not in _SETTLED:
                    self._raise_to(index, SeedOutcome.UNDECIDED)
                elif event.config and verdict.kind is VerdictKind.AGREE:
                    self._raise_to(index, SeedOutcome.OK)
            case SeedDone(index=index):
                self.by_index[index] = self._gravest.pop(index, SeedOutcome.UNDECIDED)
            case _:
                pass

    def counts(self) -> dict[str, int]:
        """Number of seeds by outcome, without those that no seed has; a finding counts before its seed is done."""
        outcomes = list(self.by_index.values())
        outcomes += [outcome for outcome in self._gravest.values() if outcome is SeedOutcome.FAILED]
        return {str(outcome): outcomes.count(outcome) for outcome in SeedOutcome if outcome in outcomes}

    def _raise_to(self, index: int, outcome: SeedOutcome) -> None:
        order = list(SeedOutcome)
        self._gravest[index] = max(self._gravest.get(index, outcome), outcome, key=order.index)
