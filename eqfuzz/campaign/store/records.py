"""What a campaign keeps: its work, what came of it, and what was learnt."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from eqfuzz.oracle.compare.verdict import Verdict
from eqfuzz.triage.findings.severity import Severity, severity

Json = Mapping[str, Any]
"""An object of JSON."""


@dataclasses.dataclass(frozen=True)
class Campaign:
    """A campaign as it stands. ``planned`` and ``settled`` count epochs: those handed out, those learnt from.

    ``settings`` are those that it was begun with; ``created`` is Unix time in seconds.
    """

    id: int
    name: str
    seed: int
    settings: Json
    versions: Json
    created: float
    planned: int
    settled: int


@dataclasses.dataclass(frozen=True)
class Item:
    """One piece of work: a seed program, and how it is to be rewritten and compiled.

    ``program`` is the digest of its text among the store's files, ``name`` what reports call it. ``arms`` are what was
    chosen, by dimension (``{"source": "template:fusion", "rules": "shapes", "config": "inductor"}``), ``options``
    everything else that the executor needs. Items of an epoch are numbered from 0.
    """

    epoch: int
    number: int
    program: str
    name: str
    arms: Mapping[str, str]
    options: Json


@dataclasses.dataclass(frozen=True)
class Claim:
    """An item in the hands of a worker. ``attempt`` counts from 1: what a lost worker held is handed out again."""

    case: int
    item: Item
    worker: str
    attempt: int


@dataclasses.dataclass(frozen=True)
class StoredFinding:
    """A finding as the store knows it: ``id`` names its folder, ``issue`` is empty where it is no known issue.

    ``epoch`` is that of the item that made it first, ``report`` the finding's event.
    """

    id: str
    kind: str
    fingerprint: str
    bucket: str
    issue: str
    seed: str
    epoch: int
    report: Json

    @property
    def severity(self) -> Severity:
        return severity(Verdict.from_json(self.report["verdict"]))


@dataclasses.dataclass(frozen=True)
class CorpusEntry:
    """A program that reached something first: ``program`` is the digest of its text, ``parent`` that of its seed.

    ``arms`` are those of the item that made it, ``features`` what it reached, ``cost`` what running it took.
    """

    program: str
    name: str
    parent: str
    arms: Mapping[str, str]
    rules: tuple[str, ...]
    features: frozenset[int]
    cost: float


@dataclasses.dataclass(frozen=True)
class Arm:
    """What choosing ``name`` in ``dimension`` has brought so far, older epochs counting less."""

    dimension: str
    name: str
    reward: float
    cost: float
    pulls: int


@dataclasses.dataclass(frozen=True)
class EpochResult:
    """What one epoch taught. ``features`` are new ones, by the number of the item that was first; ``lines`` are
    bitmaps of executed lines by file (bit n is line n), to be joined with those there are; ``arms`` replace those there
    are; ``point`` is what the curve shows."""

    features: Mapping[int, int]
    entries: tuple[CorpusEntry, ...]
    arms: tuple[Arm, ...]
    lines: Mapping[str, bytes]
    point: Json
