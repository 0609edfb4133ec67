"""Records of a store: campaigns, items, leases, findings, corpus and learnt state."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from typing import Any, Self

from eqfuzz.campaign.store.outcome import Symptom
from eqfuzz.oracle.compare.verdict import Verdict
from eqfuzz.triage.findings.severity import Severity, severity

Json = Mapping[str, Any]
"""An object of JSON."""


@dataclasses.dataclass(frozen=True)
class Campaign:
    """A campaign and its progress."""

    id: int
    """Its key in the store."""
    name: str
    """Unique in the store."""
    seed: int
    """The random seed."""
    settings: Json
    """Settings of its first call, see ``Configuration.lasting``."""
    versions: Json
    """Versions at its first call."""
    created: float
    """Unix time in seconds."""
    planned: int
    """Number of planned epochs."""
    committed: int
    """Number of committed epochs: those that were learnt from."""


@dataclasses.dataclass(frozen=True)
class ItemOptions:
    """How the seed of an item is rewritten and compiled."""

    seed: int = 0
    """Decides every random choice of the item."""
    favoured: tuple[str, ...] = ()
    """Families of rules that random derivations draw from more often."""
    configs: tuple[str, ...] = ()
    """Names of the compile configurations."""
    traced: bool = False
    """Whether the executed lines of the compiler are recorded."""
    met: tuple[Symptom, ...] = ()
    """Symptoms of the original that were confirmed before."""
    graphs_first: bool = False
    """Whether code is compiled only where graphs differ from eager."""
    first_call: bool = False
    """Whether only the first input set of the seed is judged: without variants, and without other sizes and dtypes."""
    buckets: tuple[str, ...] = ()
    """Ids of the buckets that have a confirmed finding."""
    settings: Json = dataclasses.field(default_factory=dict[str, Any])
    """Settings of a mutated configuration, which takes the place of those that are named; empty for none."""

    @classmethod
    def from_json(cls, options: Json) -> Self:
        """Options as stored; entries that are missing have their defaults."""
        values = {field.name: options[field.name] for field in dataclasses.fields(cls) if field.name in options}
        for name in values.keys() & {"favoured", "configs", "buckets"}:
            values[name] = tuple(values[name])
        if "met" in values:
            values["met"] = tuple(map(tuple, values["met"]))
        return cls(**values)


@dataclasses.dataclass(frozen=True)
class Item:
    """One unit of work: a seed program, and how it is rewritten and compiled."""

    epoch: int
    number: int
    """Position in its epoch, from 0."""
    program: str
    """Digest of the seed's text among the programs of the store."""
    name: str
    """Name of the seed in reports."""
    arms: Mapping[str, str]
    """Chosen arm by dimension: ``{"source": "template:fusion", "config": "inductor"}``."""
    options: ItemOptions = ItemOptions()


@dataclasses.dataclass(frozen=True)
class Lease:
    """An item held by a worker."""

    case: int
    """Number of the item in its store."""
    item: Item
    worker: str
    attempt: int
    """From 1; an item whose worker is lost is handed out again."""


@dataclasses.dataclass(frozen=True)
class StoredFinding:
    """A finding in the store."""

    id: str
    """Name of its folder."""
    kind: str
    """Kind of its verdict."""
    fingerprint: str
    """Names the defect; empty if it was not localised."""
    bucket: str
    """Id of its bucket; empty if it was not localised."""
    issue: str
    """Address of its known issue; empty for none."""
    seed: str
    """Name of the seed in reports."""
    epoch: int
    """Earliest epoch with an item that has this finding."""
    report: Json
    """The event."""

    @property
    def severity(self) -> Severity:
        return severity(Verdict.from_json(self.report["verdict"]))


@dataclasses.dataclass(frozen=True)
class CorpusEntry:
    """A program that was the first to reach some features."""

    program: str
    """Digest of its text."""
    name: str
    """Name of the seed in reports."""
    parent: str
    """Digest of the seed's text."""
    arms: Mapping[str, str]
    """Arms of its item."""
    rules: tuple[str, ...]
    """Rules that made it from the seed."""
    features: frozenset[int]
    """The features that it was first to reach."""
    cost: float
    """Cost per compiled cell of its item."""
    settings: Json = dataclasses.field(default_factory=dict[str, Any])
    """Settings of the configuration that it was compiled under, where these were mutated; else empty."""

    @property
    def settings_digest(self) -> str:
        """Digest of the settings; empty for none."""
        text = json.dumps(self.settings, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16] if self.settings else ""


@dataclasses.dataclass(frozen=True)
class Arm:
    """Discounted reward and cost of choosing ``name`` in ``dimension``."""

    dimension: str
    name: str
    reward: float
    cost: float
    pulls: int


@dataclasses.dataclass(frozen=True)
class EpochResult:
    """What a campaign has learnt from one epoch."""

    features: Mapping[int, int]
    """New features, each with the number of the first item that reached it."""
    entries: tuple[CorpusEntry, ...]
    """New entries of the corpus."""
    arms: tuple[Arm, ...]
    """All arms, which replace those in the store."""
    lines: Mapping[str, bytes]
    """Bitmaps of executed lines by file, added to those in the store; bit n is line n."""
    point: Json
    """Point of the curve."""
