"""Events of ``eqfuzz diff``."""

from __future__ import annotations

import dataclasses
from enum import StrEnum
from typing import Any, ClassVar

from eqfuzz.events.event import Event
from eqfuzz.triage.findings.finding import Finding


class BucketState(StrEnum):
    """What became of a bucket from base to head, by its stand-alone script."""

    NEW = "new"
    """Only head shows it."""
    FIXED = "fixed"
    """Only base shows it."""
    STILL = "still"
    """Both show it."""
    UNCLEAR = "unclear"
    """The script breaks down on one of them, or shows it on neither."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class DiffStarted(Event):
    """First event of ``eqfuzz diff``."""

    name: ClassVar[str] = "diff"

    base: str
    """Release and build of torch, of what is no final release with its revision."""
    head: str
    """The other one."""
    seeds: int
    """Number of seeds."""
    scripts: int
    """Number of stand-alone scripts."""
    paths: list[str]
    """The first of the files and folders, as they were named."""
    changed: int
    """Number of files of torch that have changed, as far as that was said."""
    first: int
    """Number of seeds that run first, because a line that they have executed has changed."""
    untraced: int
    """Number of seeds whose executed lines are not known yet."""
    configs: list[str]
    """Names of the compile configurations."""
    devices: list[str]
    """``cpu``, ``cuda`` or both."""
    seed: int
    """The random seed."""
    jobs: int
    """Seeds run at once."""
    out: str
    """Folder of the comparison."""
    versions: dict[str, str]
    """Version by package, see ``versions``; torch is not among them."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class ProgramCompared(Event):
    """A program has run with both."""

    name: ClassVar[str] = "program"

    program: str
    base: str
    """``agree``, ``differs``, ``invalid: …``, or other kinds of verdict; FIXED or STILL FAILING for a script."""
    head: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class BucketCompared(Event):
    """The script of a bucket has run with both."""

    name: ClassVar[str] = "bucket"

    bucket: str
    """Id of the bucket; the name of a script that is a program itself."""
    state: BucketState
    """What became of it."""
    title: str
    """The fingerprint; the first line of a script."""
    kind: str
    """The kind of verdict; ``script`` for a program that is one."""
    message: str
    """The difference, one line."""
    seed: str
    """Name of the first program that shows it."""
    seeds: list[str]
    """Names of all that show it with either."""
    script: str
    """Path of the script that decides."""
    base: str
    """FIXED, STILL FAILING or ERROR."""
    head: str
    """The same with the other one."""
    cause: str
    """Why it is unclear; else empty."""
    issue: str
    """Address of its known issue; empty for none."""
    changed: bool
    """Whether a program that shows it has executed a line that has changed."""
    finding: Finding | None
    """A finding of the bucket; None for a script."""

    def to_json(self) -> dict[str, Any]:
        finding = self.finding
        plain = {field.name: getattr(self, field.name) for field in dataclasses.fields(self) if field.name != "finding"}
        severity = str(finding.severity) if finding is not None else ""
        return {"event": self.name, **plain, "finding": finding.id if finding is not None else "", "severity": severity}

    @property
    def is_new(self) -> bool:
        """Whether it is a regression that is no known issue."""
        return self.state is BucketState.NEW and not self.issue


@dataclasses.dataclass(frozen=True, kw_only=True)
class DiffSummary(Event):
    """Last event of ``eqfuzz diff``, also of an interrupted one."""

    name: ClassVar[str] = "summary"

    programs: int
    """Number of programs that have run with both."""
    outcomes: dict[str, int]
    """Number of seeds by outcome with base and head, where these differ: ``agree → differs``."""
    states: dict[str, int]
    """Number of buckets by state."""
    new: int
    """Number of new buckets that are no known issue."""
    not_tried: list[str]
    """Names of the programs that were not run with both."""
    invalid: dict[str, str]
    """Why a program cannot be compared, by name."""
    errors: list[str]
    """Internal errors, one line each."""
    interrupted: bool
    """Whether a signal ended it."""
    out_of_time: bool
    """Whether the time limit ended it."""
    seconds: float
    """Wall seconds."""
    out: str
    """Folder of the comparison."""
