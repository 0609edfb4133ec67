"""Events of ``eqfuzz rules check`` and ``eqfuzz rules survival``."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from eqfuzz.events.event import Event


@dataclasses.dataclass(frozen=True)
class CheckStarted(Event):
    """``eqfuzz rules check`` begins: how many rules, and draws for each example of a rule."""

    name: ClassVar[str] = "start"

    rules: int
    draws: int
    jobs: int


@dataclasses.dataclass(frozen=True)
class RuleStarted(Event):
    name: ClassVar[str] = "rule-start"
    index: int
    rule: str


@dataclasses.dataclass(frozen=True)
class RuleChecked(Event):
    """One rule's proof. ``place`` is file:line of its declaration; ``problems`` is empty when it holds."""

    name: ClassVar[str] = "rule"

    index: int
    rule: str
    place: str
    holds: bool
    draws: int
    rewrites: int
    problems: list[str]
    seconds: float


@dataclasses.dataclass(frozen=True)
class CheckSummary(Event):
    """The last event of a check, an interrupted one too; ``failed`` names the rules that do not hold."""

    name: ClassVar[str] = "summary"

    rules: int
    checked: int
    failed: list[str]
    draws: int
    rewrites: int
    interrupted: bool
    seconds: float


@dataclasses.dataclass(frozen=True)
class CompileDepthStarted(Event):
    """``eqfuzz rules survival`` begins."""

    name: ClassVar[str] = "start"

    rules: int
    jobs: int


@dataclasses.dataclass(frozen=True)
class RuleMeasured(Event):
    """How far one rule gets (see ``rewrite.rules.compile_depth``), or None and the reason why that is not known."""

    name: ClassVar[str] = "rule"

    index: int
    rule: str
    level: str | None
    reason: str


@dataclasses.dataclass(frozen=True)
class CompileDepthSummary(Event):
    """The last event of a measurement, an interrupted one too: rules per level, and those without one."""

    name: ClassVar[str] = "summary"

    rules: int
    levels: dict[str, int]
    unmeasured: list[str]
    interrupted: bool
    seconds: float
