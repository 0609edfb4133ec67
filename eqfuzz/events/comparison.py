"""Events of ``eqfuzz compare``."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from eqfuzz.events.event import Event


@dataclasses.dataclass(frozen=True, kw_only=True)
class ComparisonStarted(Event):
    """First event."""

    name: ClassVar[str] = "start"

    seed: int
    """The random seed."""
    pools: dict[str, int]
    """Number of seeds by pool."""
    budget: float
    """CPU seconds of each pool."""
    spent: dict[str, float]
    """CPU seconds that earlier calls have used, by pool."""
    strategy: str
    """How seeds are rewritten."""
    configs: list[str]
    """Names of the compile configurations."""
    jobs: int
    """Seeds run at once."""
    out: str
    """Folder of the comparison."""
    versions: dict[str, str]
    """Version by package, see ``versions``."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class CaseStarted(Event):
    """A seed of a pool is about to run."""

    name: ClassVar[str] = "case-start"

    index: int
    pool: str
    seed: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class CaseCompared(Event):
    """A seed of a pool and its variants were run.

    Attributes:
        index: Position of the case in the call, from 0.
        pool: Name of the pool.
        seed: Name of the seed.
        new: Lines of the compiler that no earlier case of the pool has run.
        findings: Compiled cells with a defect.
        problem: Why the seed is invalid, or an internal error; empty for neither.
        spent: CPU seconds of the pool so far.
    """

    name: ClassVar[str] = "case"

    index: int
    pool: str
    seed: str
    new: int
    findings: int
    problem: str
    spent: float


@dataclasses.dataclass(frozen=True, kw_only=True)
class PoolFigures:
    """What a pool has come to.

    Attributes:
        seeds: Seeds that were run.
        invalid: Seeds that are invalid.
        programs: Seeds and variants that were run.
        cells: Compiled cells.
        lines: Lines of the compiler that ran.
        only: Of these, those that no other pool has run.
        defective: Compiled cells with a defect, by kind of verdict.
        buckets: Distinct findings that are no known issues.
        known: Distinct known issues.
        cpu_seconds: CPU seconds of its programs; confirming findings is not counted.
    """

    seeds: int
    invalid: int
    programs: int
    cells: int
    lines: int
    only: int
    defective: dict[str, int]
    buckets: int
    known: int
    cpu_seconds: float


@dataclasses.dataclass(frozen=True, kw_only=True)
class ComparisonSummary(Event):
    """Last event, also of an interrupted call.

    Attributes:
        pools: Figures by pool.
        coverage: CPU seconds, and lines of the compiler that ran until then, by pool.
        findings: CPU seconds, compiled cells with a defect until then, and those whose process crashed, by pool.
        exhausted: Pools whose seeds were all run before the time was spent.
        errors: Internal errors, one line each.
        interrupted: Whether it was interrupted.
        seconds: Wall seconds of this call.
    """

    name: ClassVar[str] = "summary"

    pools: dict[str, PoolFigures]
    coverage: dict[str, list[tuple[float, int]]]
    findings: dict[str, list[tuple[float, int, int]]]
    exhausted: list[str]
    errors: list[str]
    interrupted: bool
    seconds: float
