"""Events of ``eqfuzz rules check`` and ``eqfuzz rules survival``."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from eqfuzz.events.event import Event


@dataclasses.dataclass(frozen=True, kw_only=True)
class CheckStarted(Event):
    """First event of ``eqfuzz rules check``; ``draws`` is the number of inputs per example of a rule."""

    name: ClassVar[str] = "start"

    rules: int
    draws: int
    jobs: int


@dataclasses.dataclass(frozen=True, kw_only=True)
class RuleStarted(Event):
    """A rule is about to be proved or measured."""

    name: ClassVar[str] = "rule-start"

    index: int
    rule: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class RuleChecked(Event):
    """Proof of one rule."""

    name: ClassVar[str] = "rule"

    index: int
    """Position of the rule in the check, from 0."""
    rule: str
    """Name of the rule."""
    place: str
    """``file:line`` of its declaration."""
    holds: bool
    """Whether no problem was met."""
    draws: int
    """Number of inputs that it was tried on."""
    rewrites: int
    """Number of rewritten programs that were compared."""
    problems: list[str]
    """One text each; empty if it holds."""
    seconds: float
    """Wall seconds."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class CheckSummary(Event):
    """Last event of a check, also of an interrupted one."""

    name: ClassVar[str] = "summary"

    rules: int
    """Number of selected rules."""
    checked: int
    """Number of rules that were checked."""
    failed: list[str]
    """Names of the rules that do not hold."""
    draws: int
    """Sum of ``RuleChecked.draws``."""
    rewrites: int
    """Sum of ``RuleChecked.rewrites``."""
    interrupted: bool
    """Whether it was interrupted."""
    seconds: float
    """Wall seconds."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class CompileDepthStarted(Event):
    """First event of ``eqfuzz rules survival``."""

    name: ClassVar[str] = "start"

    rules: int
    jobs: int


@dataclasses.dataclass(frozen=True, kw_only=True)
class RuleMeasured(Event):
    """Compile depth of one rule (see ``rewrite.rules.compile_depth``), or None and the reason."""

    name: ClassVar[str] = "rule"

    index: int
    rule: str
    level: str | None
    reason: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class CompileDepthSummary(Event):
    """Last event of a measurement, also of an interrupted one: number of rules by level, and rules without one."""

    name: ClassVar[str] = "summary"

    rules: int
    levels: dict[str, int]
    unmeasured: list[str]
    interrupted: bool
    seconds: float
