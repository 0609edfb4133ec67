"""Events of a run over seeds."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

from eqfuzz.events.event import Event
from eqfuzz.oracle.compare.verdict import Verdict
from eqfuzz.rewrite.derivation import RewriteStep
from eqfuzz.triage.findings.finding import Finding


@dataclasses.dataclass(frozen=True)
class RunStarted(Event):
    name: ClassVar[str] = "start"
    seed: int
    seeds: int
    strategy: str
    rules: int
    devices: list[str]
    configs: list[str]
    jobs: int
    runner: str
    out: str
    versions: dict[str, str]


@dataclasses.dataclass(frozen=True)
class SeedStarted(Event):
    name: ClassVar[str] = "seed"
    index: int
    seed: str


@dataclasses.dataclass(frozen=True)
class SeedInvalid(Event):
    """One line says what is wrong, where, and what to do."""

    name: ClassVar[str] = "invalid"

    index: int
    seed: str
    reason: str


@dataclasses.dataclass(frozen=True)
class SeedRewritten(Event):
    """``variants`` counts those that will run; ``cells`` the compiled cells that will be judged."""

    name: ClassVar[str] = "rewritten"

    index: int
    seed: str
    sites: int
    variants: int
    cells: int


@dataclasses.dataclass(frozen=True)
class SitesListed(Event):
    """With ``--diff``: the seed's text, and every place where a rule applies."""

    name: ClassVar[str] = "sites"

    index: int
    seed: str
    source: str
    sites: list[RewriteStep]


@dataclasses.dataclass(frozen=True)
class VariantMade(Event):
    """With ``--diff``: one variant that would run. ``variant`` counts from 1."""

    name: ClassVar[str] = "variant"

    index: int
    seed: str
    variant: int
    exactness: str
    derivation: list[RewriteStep]
    source: str


@dataclasses.dataclass(frozen=True)
class CellJudged(Event):
    """``variant`` 0 is the original. ``config`` and ``device`` are empty for the eager check of a variant.

    ``compiled`` counts Dynamo's graphs, graph breaks and recompilations for the cell; None where none came through.
    ``erased``: the compiler made code of it that it had made for an earlier cell of the seed.
    """

    name: ClassVar[str] = "cell"

    index: int
    seed: str
    variant: int
    rules: list[str]
    device: str
    config: str
    verdict: Verdict
    seconds: float
    compiled: dict[str, int] | None = None
    erased: bool = False


@dataclasses.dataclass(frozen=True)
class FindingReported(Event):
    """``folder`` holds the reproducer; ``known`` when an earlier run had already written it.

    ``bucket`` is the id of its bucket (empty: it was not placed), ``kept`` False where that has enough members and the
    folder is gone, ``issue`` the address of the known issue that it is.
    """

    name: ClassVar[str] = "finding"

    index: int
    finding: Finding
    folder: str
    known: bool
    bucket: str = ""
    kept: bool = True
    issue: str = ""

    def to_json(self) -> dict[str, Any]:
        finding = self.finding
        return {
            "event": self.name,
            "index": self.index,
            "id": finding.id,
            "seed": finding.original.name,
            "verdict": finding.verdict.to_json(),
            "severity": str(finding.severity),
            "derivation": [dataclasses.asdict(step) for step in finding.derivation],
            "device": finding.device,
            "config": finding.config,
            "cells": finding.cells,
            "also": finding.also,
            "suspects": list(finding.suspects),
            "stage": finding.stage,
            "backends": dict(finding.backends),
            "place": finding.place,
            "fingerprint": finding.fingerprint,
            "bucket": self.bucket,
            "kept": self.kept,
            "issue": self.issue,
            "folder": self.folder,
            "known": self.known,
        }


@dataclasses.dataclass(frozen=True)
class WorkerRestarted(Event):
    """The process that children are forked from died and was started again; the seed's case begins anew."""

    name: ClassVar[str] = "restart"

    index: int
    seed: str
    detail: str


@dataclasses.dataclass(frozen=True)
class SeedDone(Event):
    """``timings`` are CPU seconds by stage; ``peak_mb`` is what the largest of the seed's processes held, in MiB.

    ``kernels`` counts C++ kernels built, taken from earlier cells, built alone; it is empty where none are shared.
    """

    name: ClassVar[str] = "done"

    index: int
    seed: str
    seconds: float
    cpu_seconds: float
    timings: dict[str, float]
    kernels: dict[str, int] = dataclasses.field(default_factory=dict)
    peak_mb: int = 0


@dataclasses.dataclass(frozen=True)
class LinesCovered(Event):
    """The lines of the compiler that ran while the cells of a traced seed compiled, all of them together.

    ``files`` has, by path below ``torch``, the hexadecimal of an integer whose bit n says that line n ran.
    """

    name: ClassVar[str] = "lines"

    index: int
    seed: str
    files: dict[str, str]


@dataclasses.dataclass(frozen=True)
class RuleTally:
    """How one rule fared: variants that applied it, and its compiled cells by verdict."""

    variants: int = 0
    verdicts: dict[str, int] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class InvalidReason:
    """Why ``count`` seeds are invalid. ``seeds`` names the first of them, ``place`` the very first with its line.

    Where they differ in numbers or in what they quote, ``reason`` has ``N`` and ``…`` for that.
    """

    reason: str
    count: int
    seeds: list[str]
    place: str


@dataclasses.dataclass(frozen=True)
class Summary(Event):
    """The last event of every run, an interrupted one too. ``errors`` are eqfuzz's own breakdowns, a line each.

    ``invalid_reasons`` are those of all ``invalid`` seeds, the most frequent first.
    ``peak_mb`` is what the largest process that ran a seed held, in MiB. ``findings`` counts those that are no known
    issue, in ``buckets`` buckets, ``severities`` how many there are of each severity, the gravest first; ``known``
    counts the others; ``gone`` are known issues that no longer reproduce. ``flaky`` counts the flaky cells by their
    cause.
    """

    name: ClassVar[str] = "summary"

    seed: int
    seeds: int
    invalid: int
    sites: int
    variants: int
    cells: int
    erased: int
    verdicts: dict[str, int]
    findings: int
    rules: dict[str, RuleTally]
    errors: list[str]
    interrupted: bool
    out_of_time: bool
    seconds: float
    cpu_seconds: float
    peak_mb: int
    buckets: int = 0
    known: int = 0
    flaky: dict[str, int] = dataclasses.field(default_factory=dict)
    gone: list[str] = dataclasses.field(default_factory=list)
    invalid_reasons: list[InvalidReason] = dataclasses.field(default_factory=list)
    severities: dict[str, int] = dataclasses.field(default_factory=dict)
