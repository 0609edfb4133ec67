"""What a campaign tells besides what every run does."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

from eqfuzz.events.event import Event
from eqfuzz.events.run import InvalidReason


@dataclasses.dataclass(frozen=True)
class CampaignStarted(Event):
    """``resumed``: it has been here before, and goes on where it was."""

    name: ClassVar[str] = "start"
    campaign: str
    seed: int
    resumed: bool
    sources: list[str]
    rules: int
    configs: list[str]
    devices: list[str]
    jobs: int
    executor: str
    feedback: bool
    out: str
    store: str
    versions: dict[str, str]


@dataclasses.dataclass(frozen=True)
class ItemStarted(Event):
    """A worker took a seed. ``attempt`` counts from 1: what a lost worker held is handed out again."""

    name: ClassVar[str] = "item"
    index: int
    seed: str
    arms: dict[str, str]
    attempt: int


@dataclasses.dataclass(frozen=True)
class ItemEnded(Event):
    """What came of it is stored. ``state``: done, invalid, error, or lost where it cost its worker each time."""

    name: ClassVar[str] = "stored"
    index: int
    seed: str
    state: str
    reason: str
    cells: int
    cpu_seconds: float


@dataclasses.dataclass(frozen=True)
class EpochCommitted(Event):
    """What an epoch taught. ``point`` is the campaign as it stands, ``yields`` reward per cost of each arm."""

    name: ClassVar[str] = "epoch"
    epoch: int
    new_features: int
    new_lines: int
    new_buckets: int
    kept: int
    point: dict[str, Any]
    yields: dict[str, dict[str, float]]


@dataclasses.dataclass(frozen=True)
class CampaignBlocked(Event):
    """The campaign waits and will try again. ``cause`` is empty when it resumes."""

    name: ClassVar[str] = "waiting"
    cause: str
    detail: str
    seconds: float
    """Wall seconds until the next try."""

    @classmethod
    def over(cls) -> CampaignBlocked:
        """The event of the end of all waiting."""
        return cls(cause="", detail="", seconds=0.0)


@dataclasses.dataclass(frozen=True)
class WorkerLost(Event):
    """A worker on another machine, or its machine, is gone; what it held is handed out again."""

    name: ClassVar[str] = "worker-lost"
    worker: str
    detail: str


@dataclasses.dataclass(frozen=True)
class CampaignStopping(Event):
    """Nothing new is begun; ``running`` seeds are in flight.

    ``why``: interrupt, time, cells, cpu, findings, dollars, model (the only source gives no more), seeds
    (none is left), error.
    """

    name: ClassVar[str] = "stopping"
    why: str
    running: int


@dataclasses.dataclass(frozen=True)
class SourceUnavailable(Event):
    """A source gives no seed; ``ended``: nor ever again in this call."""

    name: ClassVar[str] = "source"
    source: str
    detail: str
    ended: bool


@dataclasses.dataclass(frozen=True)
class CampaignSummary(Event):
    """The last event of a campaign's call. The figures are the campaign's so far, over all calls.

    ``findings`` counts those that are no known issue, in ``buckets`` buckets. ``seconds`` are wall seconds of this
    call, ``total_seconds`` of all; ``invalid_reasons`` are those of this call.
    """

    name: ClassVar[str] = "summary"
    campaign: str
    seed: int
    why: str
    interrupted: bool
    seconds: float
    total_seconds: float
    errors: list[str]
    figures: dict[str, Any]
    yields: dict[str, dict[str, float]]
    findings: int
    buckets: int
    known: int
    new_here: list[str]
    invalid_reasons: list[InvalidReason] = dataclasses.field(default_factory=list)
