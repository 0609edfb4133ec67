"""Jobs about one rule, and their children's answers: its proof, how deep it gets into the compiler."""

from __future__ import annotations

import dataclasses
from typing import ClassVar, Literal, TypeVar

from eqfuzz.run.messages.job import ChildEvent, Count, Job, Text


@dataclasses.dataclass(frozen=True, kw_only=True)
class RuleProved(ChildEvent):
    """A proof is complete; the rule holds where there are no ``problems``. ``seconds`` of wall time were spent."""

    event: Literal["proved"] = "proved"
    draws: Count
    rewrites: Count
    problems: tuple[Text, ...]
    seconds: float


@dataclasses.dataclass(frozen=True, kw_only=True)
class CompileDepthMeasured(ChildEvent):
    """The last stage of the compiler at which both sides of a rule differ; None, with a ``reason``, if unknown."""

    event: Literal["measured"] = "measured"
    level: str | None
    reason: Text = ""


A = TypeVar("A", bound=ChildEvent)


@dataclasses.dataclass(frozen=True, kw_only=True)
class RuleJob(Job[A]):
    """A job about the rule of this name; ``rules_from`` are absolute paths of the user's rules."""

    rule: str
    rules_from: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True, kw_only=True)
class ProveJob(RuleJob[RuleProved]):
    """Prove a rule on ``draws`` sets of operands."""

    TARGET: ClassVar[str] = "eqfuzz.run.jobs.prove_rule:TARGET"
    EVENTS = (RuleProved,)
    ANSWER = RuleProved

    job: Literal["prove"] = "prove"
    draws: int


@dataclasses.dataclass(frozen=True, kw_only=True)
class CompileDepthJob(RuleJob[CompileDepthMeasured]):
    """Measure the compile depth of a rule."""

    TARGET: ClassVar[str] = "eqfuzz.run.jobs.compile_depth:TARGET"
    EVENTS = (CompileDepthMeasured,)
    ANSWER = CompileDepthMeasured

    job: Literal["compile-depth"] = "compile-depth"
