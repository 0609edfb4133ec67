"""Events of a run over seeds."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar, Self

from eqfuzz.events.event import Event
from eqfuzz.oracle.compare.verdict import Verdict
from eqfuzz.rewrite.rewrite_step import RewriteStep
from eqfuzz.triage.confirm.cell import Cell
from eqfuzz.triage.findings.finding import Finding


@dataclasses.dataclass(frozen=True, kw_only=True)
class CommandStarted(Event):
    """First line of a run's file of events: what was called, in which ``folder``, at which ``time`` (Unix seconds)."""

    name: ClassVar[str] = "command"

    command: str
    """As it is typed into a shell; empty where a program called."""
    folder: str
    time: float


@dataclasses.dataclass(frozen=True, kw_only=True)
class RunStarted(Event):
    """First event of ``eqfuzz mutate``."""

    name: ClassVar[str] = "start"

    seed: int
    """The random seed."""
    seeds: int
    """Number of seeds."""
    strategy: str
    """How seeds are rewritten."""
    rules: int
    """Number of selected rules."""
    devices: list[str]
    """``cpu``, ``cuda`` or both."""
    configs: list[str]
    """Names of the compile configurations."""
    jobs: int
    """Seeds run at once."""
    runner: str
    """``fast``, ``stock`` or ``spawn``."""
    out: str
    """Folder of the run."""
    versions: dict[str, str]
    """Version by package, see ``versions``."""
    paths: list[str] = dataclasses.field(default_factory=list)
    """The first of the seed files and folders, as they were named."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class SeedStarted(Event):
    """A seed is about to run."""

    name: ClassVar[str] = "seed"

    index: int
    seed: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class SeedInvalid(Event):
    """A seed cannot be run."""

    name: ClassVar[str] = "invalid"

    index: int
    seed: str
    reason: str
    """One line: where, what is wrong, what to do."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class SeedRewritten(Event):
    """Variants of a seed were generated."""

    name: ClassVar[str] = "rewritten"

    index: int
    seed: str
    sites: int
    """Number of sites of all rules."""
    variants: int
    """Number of variants that will run."""
    cells: int
    """Number of compiled cells that will be judged."""
    eager_seconds: float = 0.0
    """Wall seconds of a call in eager, forward and backward."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class SitesListed(Event):
    """With ``--diff``: the text of a seed and the sites of all rules."""

    name: ClassVar[str] = "sites"

    index: int
    seed: str
    source: str
    sites: list[RewriteStep]


@dataclasses.dataclass(frozen=True, kw_only=True)
class VariantMade(Event):
    """With ``--diff``: a variant, which is not run. ``variant`` counts from 1."""

    name: ClassVar[str] = "variant"

    index: int
    seed: str
    variant: int
    exactness: str
    derivation: list[RewriteStep]
    source: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class CellJudged(Event):
    """A cell, or the eager check of a variant, has a verdict."""

    name: ClassVar[str] = "cell"

    index: int
    """Position of the seed in the run, from 0; in a campaign the number of the item."""
    seed: str
    """Name of the seed."""
    variant: int
    """0 is the original."""
    rules: list[str]
    """Rules of the variant's derivation."""
    device: str
    """Empty for an eager check, like ``config``."""
    config: str
    """Name of the compile configuration."""
    verdict: Verdict
    """The first difference of the gravest kind, or that there is none."""
    seconds: float
    """Wall seconds."""
    compiled: dict[str, int] | None = None
    """Number of Dynamo's graphs, those with unbacked symbols, graph breaks and recompilations; None if the child died
    before it reported them."""
    only_graphs: bool = False
    """Whether its graphs gave the verdict, and were not compiled to code."""
    erased: bool = False
    """Whether the compiler generated the same code as for an earlier cell of the seed."""

    @classmethod
    def of(cls, index: int, seed: str, cell: Cell, rules: list[str]) -> Self:
        """The event of ``cell``, whose variant was made by ``rules``."""
        return cls(
            index=index,
            seed=seed,
            variant=cell.variant,
            rules=rules,
            device=cell.device,
            config=cell.config,
            verdict=cell.verdict,
            seconds=cell.seconds,
            compiled=cell.compiled,
            erased=cell.erased,
            only_graphs=cell.only_graphs,
        )


@dataclasses.dataclass(frozen=True, kw_only=True)
class FindingReported(Event):
    """A finding was confirmed."""

    name: ClassVar[str] = "finding"

    index: int
    """Position of the seed in the run, from 0; in a campaign the number of the item."""
    finding: Finding
    """With everything that triage has added."""
    folder: str
    """Folder with the reproducer."""
    known: bool
    """Whether an earlier run has written the folder."""
    bucket: str = ""
    """Id of its bucket; empty if it was not localised."""
    kept: bool = True
    """False if the folder was removed because the bucket has enough members."""
    issue: str = ""
    """Address of its known issue; empty for none."""

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


@dataclasses.dataclass(frozen=True, kw_only=True)
class ForkServerRestarted(Event):
    """The fork server died and was restarted; the case of the seed runs again."""

    name: ClassVar[str] = "restart"

    index: int
    seed: str
    detail: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class SeedDone(Event):
    """Last event of a seed."""

    name: ClassVar[str] = "done"

    index: int
    """Position of the seed in the run, from 0; in a campaign the number of the item."""
    seed: str
    """Name of the seed."""
    seconds: float
    """Wall seconds."""
    cpu_seconds: float
    """CPU seconds of all processes of the seed."""
    timings: dict[str, float]
    """CPU seconds by stage."""
    kernels: dict[str, int] = dataclasses.field(default_factory=dict)
    """Number of C++ kernels that were built, reused, or built alone; empty where kernels are not shared."""
    peak_mb: int = 0
    """MiB held by the largest process of the seed."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class LinesCovered(Event):
    """Lines of the compiler that were executed for any cell of a traced seed."""

    name: ClassVar[str] = "lines"

    index: int
    seed: str
    files: dict[str, str]
    """Bitmap by path below ``torch``, in hexadecimal: bit n is line n."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class RuleTally:
    """Counts of one rule."""

    variants: int = 0
    """Number of variants with the rule in their derivation."""
    verdicts: dict[str, int] = dataclasses.field(default_factory=dict)
    """Number of compiled cells of these variants by verdict."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class InvalidReason:
    """Seeds that are invalid for the same reason."""

    reason: str
    """With ``N`` and ``…`` where the seeds differ in numbers or quotations."""
    count: int
    """Number of seeds."""
    seeds: list[str]
    """Names of the first of them."""
    place: str
    """Name of the first one, with its line if there is one."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Summary(Event):
    """Last event of every run, also of an interrupted one. Integers are numbers of what their name says."""

    name: ClassVar[str] = "summary"

    seed: int
    """The random seed."""
    seeds: int
    """Seeds that were started."""
    invalid: int
    """Invalid seeds."""
    sites: int
    """Sites of all rules in all seeds."""
    variants: int
    """Variants that were run."""
    cells: int
    """Compiled cells."""
    erased: int
    """Compiled cells with the same generated code as an earlier one of their seed."""
    verdicts: dict[str, int]
    """Number of compiled cells by verdict."""
    findings: int
    """Findings that are no known issue."""
    rules: dict[str, RuleTally]
    """Counts by name of the rule."""
    errors: list[str]
    """Internal errors, one line each."""
    interrupted: bool
    """Whether a signal ended it."""
    out_of_time: bool
    """Whether the time limit ended it."""
    seconds: float
    """Wall seconds."""
    cpu_seconds: float
    """CPU seconds of all processes."""
    peak_mb: int
    """MiB held by the largest process."""
    only_graphs: int = 0
    """Compiled cells with a verdict by their graphs, which were not compiled to code."""
    buckets: int = 0
    """Buckets of ``findings``."""
    known: int = 0
    """Findings of known issues."""
    flaky: dict[str, int] = dataclasses.field(default_factory=dict)
    """Flaky cells by cause."""
    gone: list[str] = dataclasses.field(default_factory=list)
    """Known issues that no longer reproduce, one line each."""
    invalid_reasons: list[InvalidReason] = dataclasses.field(default_factory=list)
    """The most frequent reason first."""
    left_out: list[str] = dataclasses.field(default_factory=list)
    """Seeds that were not completed, because the run ended before."""
    severities: dict[str, int] = dataclasses.field(default_factory=dict)
    """Number of ``findings`` by severity, the highest first."""
    outcomes: dict[str, int] = dataclasses.field(default_factory=dict)
    """Number of seeds that were run to their end, by outcome (``eqfuzz.mutate.outcomes``)."""
    compiled: dict[str, int] = dataclasses.field(default_factory=dict)
    """Sums of ``CellJudged.compiled``."""
