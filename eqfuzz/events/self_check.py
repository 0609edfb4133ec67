"""Events of ``eqfuzz self-check``."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

from eqfuzz.events.event import Event
from eqfuzz.oracle.calibration.recall_table import RecallTable


@dataclasses.dataclass(frozen=True, kw_only=True)
class SelfCheckStep(Event):
    """A step of the check, or a part of its tables, is finished; ``detail`` is one line."""

    name: ClassVar[str] = "step"

    step: str
    passed: bool
    detail: str
    seconds: float


@dataclasses.dataclass(frozen=True, kw_only=True)
class SelfCheckProgress(Event):
    """``done`` of ``total`` programs or pairs of a part of the tables are measured."""

    name: ClassVar[str] = "progress"

    part: str
    done: int
    total: int


@dataclasses.dataclass(frozen=True, kw_only=True)
class SelfCheckSummary(Event):
    """Last event of a self-check; ``recall`` and ``precision`` are the tables of ``--full``, else None."""

    name: ClassVar[str] = "summary"

    passed: bool
    failed: list[str]
    recall: RecallTable | None = None
    precision: list[dict[str, Any]] | None = None
    interrupted: bool = False
    seconds: float = 0.0
