"""Stands in for the pool: the events of its children, by the class of job that they are given."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from eqfuzz.oracle.compare.verdict import Verdict
from eqfuzz.run.messages.finding_jobs import CallsDescribed
from eqfuzz.run.messages.job import ChildEvent, ChildExit, Job
from eqfuzz.run.messages.seed_jobs import CellReport
from eqfuzz.run.processes.pool import Pool

Events = Sequence[ChildEvent]

CALLS = "return (torch.tensor([1.0, 2.0, 3.0]),), {}"
DESCRIBED = CallsDescribed(calls=CALLS, state=None, packs=True, changes=(("", "", ""),), globals=(), functions=())
"""A child's answer to ``DescribeJob``."""


class Children(Pool):
    """``events`` has those of each class of job, or a function of the job that returns them."""

    def __init__(self, events: Mapping[type[Job[Any]], Events | Callable[[Any], Events]]) -> None:
        self._events = events
        self.jobs: list[Any] = []
        self.closing = threading.Event()

    def close(self) -> None:
        self.closing.set()

    def stream(self, job: Job[Any]) -> Iterator[ChildEvent]:
        self.jobs.append(job)
        events = self._events.get(type(job), ())
        for event in events(job) if callable(events) else events:
            yield event
            if isinstance(event, ChildExit):
                return
        yield ChildExit(reason="done")


def cell_reports(verdicts: Mapping[str, Verdict]) -> Events:
    """Cells of a job, by configuration."""
    return [CellReport(variant=0, device="cpu", config=name, verdict=verdict) for name, verdict in verdicts.items()]
