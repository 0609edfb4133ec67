"""Events specific to campaigns."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

from eqfuzz.events.event import Event
from eqfuzz.events.run import InvalidReason


@dataclasses.dataclass(frozen=True, kw_only=True)
class CampaignStarted(Event):
    """First event of a call."""

    name: ClassVar[str] = "start"

    campaign: str
    """Name of the campaign."""
    seed: int
    """The random seed."""
    resumed: bool
    """Whether there were earlier calls."""
    sources: list[str]
    """Names of the sources of seeds."""
    rules: int
    """Number of selected rules."""
    configs: list[str]
    """Names of the compile configurations to draw from; empty: those that the seeds name."""
    devices: list[str]
    """``cpu``, ``cuda`` or both."""
    jobs: int
    """Items run at once."""
    executor: str
    """``local`` or ``ray``."""
    feedback: bool
    """Whether the bandit and the corpus steer the plan."""
    out: str
    """Folder of the campaign."""
    store: str
    """Address of the database, without its password."""
    versions: dict[str, str]
    """Version by package, see ``versions``."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class ItemStarted(Event):
    """A worker has leased an item."""

    name: ClassVar[str] = "item"

    index: int
    seed: str
    arms: dict[str, str]
    attempt: int
    """From 1; an item whose worker is lost is run again."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class ItemEnded(Event):
    """The outcome of an item is stored."""

    name: ClassVar[str] = "stored"

    index: int
    seed: str
    state: str
    """See ``Outcome.state``."""
    reason: str
    cells: int
    cpu_seconds: float


@dataclasses.dataclass(frozen=True, kw_only=True)
class EpochCommitted(Event):
    """An epoch was committed."""

    name: ClassVar[str] = "epoch"

    epoch: int
    """Its number, from 1."""
    new_features: int
    """Number of features that no earlier epoch has reached."""
    new_lines: int
    """Number of lines of the compiler that no earlier epoch has executed."""
    new_buckets: int
    """Number of buckets without a finding in earlier epochs."""
    kept: int
    """Number of new entries of the corpus."""
    point: dict[str, Any]
    """Point of the campaign's curve."""
    yields: dict[str, dict[str, float]]
    """Reward per cost of each arm, by dimension."""


@dataclasses.dataclass(frozen=True, kw_only=True)
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


@dataclasses.dataclass(frozen=True, kw_only=True)
class WorkerLost(Event):
    """A worker on another machine is lost, alone or with the machine; its item is run again."""

    name: ClassVar[str] = "worker-lost"

    worker: str
    detail: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class CampaignStopping(Event):
    """No new item is started."""

    name: ClassVar[str] = "stopping"

    why: str
    """interrupt, time, cells, cpu, findings, dollars, model (gives no more seeds), seeds (none left), or error."""
    running: int
    """Number of items that still run."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class SourceUnavailable(Event):
    """A source gives no seed."""

    name: ClassVar[str] = "source"

    source: str
    detail: str
    ended: bool
    """Whether it will give none during this call."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class CampaignSummary(Event):
    """Last event of a call; numbers are those of all calls of the campaign."""

    name: ClassVar[str] = "summary"

    campaign: str
    """Name of the campaign."""
    seed: int
    """The random seed."""
    why: str
    """Why it ended, see ``CampaignStopping.why``."""
    interrupted: bool
    """Whether a signal ended it."""
    seconds: float
    """Wall seconds of this call."""
    total_seconds: float
    """Wall seconds of all calls."""
    errors: list[str]
    """Internal errors, one line each."""
    figures: dict[str, Any]
    """See ``CampaignMetrics.figures``."""
    yields: dict[str, dict[str, float]]
    """Reward per cost of each arm, by dimension."""
    findings: int
    """Findings that are no known issue."""
    buckets: int
    """Buckets of ``findings``."""
    known: int
    """Findings of known issues."""
    new_here: list[str]
    """Buckets that had findings in this call."""
    invalid_reasons: list[InvalidReason] = dataclasses.field(default_factory=list)
    """Those of this call, the most frequent first."""
