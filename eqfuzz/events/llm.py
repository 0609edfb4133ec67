"""What happens while a language model writes seeds, as typed events."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from eqfuzz.events.event import Event


@dataclasses.dataclass(frozen=True)
class WritingStarted(Event):
    """``budget`` in dollars is None where there is no end; ``spent`` is what the journal knows of earlier runs."""

    name: ClassVar[str] = "start"
    model: str
    endpoint: str
    prompts: list[str]
    count: int
    seed: int
    budget: float | None
    spent: float
    out: str


@dataclasses.dataclass(frozen=True)
class AnswerJudged:
    """One answer of a sample: ``reason`` is empty for a seed. ``kept``: it was on the disk, and cost nothing now."""

    reason: str
    message: str
    input_tokens: int
    output_tokens: int
    dollars: float
    kept: bool


@dataclasses.dataclass(frozen=True)
class SampleEnded(Event):
    """One seed that was wanted. ``reason`` is empty where it was accepted as ``file``, else why there is none.

    ``part`` is the part of the compiler that was asked for, ``reached`` whether the seed reaches it (None: none was).
    """

    name: ClassVar[str] = "sample"
    number: int
    prompt: str
    part: str
    reason: str
    message: str
    file: str
    sites: int
    reached: bool | None
    rounds: list[AnswerJudged]


@dataclasses.dataclass(frozen=True)
class PromptShown(Event):
    """With ``--dry-run``: what would be asked, the tokens of it, and what one answer would cost, at most and about."""

    name: ClassVar[str] = "prompt"
    number: int
    prompt: str
    part: str
    messages: list[dict[str, str]]
    input_tokens: int
    dollars: float
    at_most: float


@dataclasses.dataclass(frozen=True)
class PromptTally:
    """How one prompt fared."""

    asked: int = 0
    accepted: int = 0


@dataclasses.dataclass(frozen=True)
class WritingEnded(Event):
    """All samples are made, or as many as could be.

    ``queries`` counts answers, ``kept`` those of them that were on the disk already; tokens and ``dollars`` are of all
    of them. ``paid`` is what this run cost, ``lost`` of it for attempts that brought nothing but may be charged;
    ``spent`` is all that the journal knows of. ``estimated`` answers came without usable figures and count as the most
    that they can have cost.

    ``asked`` counts samples with an answer, ``first_valid`` those whose first one was a seed, ``repaired`` those with a
    later one; ``first`` and ``failed`` count what was wrong, by reason, with first answers and in the end.
    ``why`` says what ended it early: ``budget``, ``endpoint``, ``interrupt``.
    """

    name: ClassVar[str] = "generation"
    model: str
    count: int
    asked: int
    accepted: int
    first_valid: int
    repaired: int
    valid_share: float
    first: dict[str, int]
    failed: dict[str, int]
    prompts: dict[str, PromptTally]
    parts: int
    reached: list[str]
    queries: int
    kept: int
    retries: int
    estimated: int
    input_tokens: int
    output_tokens: int
    dollars: float
    paid: float
    lost: float
    spent: float
    budget: float | None
    why: str
    trouble: str
    interrupted: bool
    seconds: float
    out: str


@dataclasses.dataclass(frozen=True)
class WritingSummary(WritingEnded):
    """The same as the last event, where nothing is run."""

    name: ClassVar[str] = "summary"


@dataclasses.dataclass(frozen=True)
class DrySummary(Event):
    """The last event of a dry run: what all first answers would cost, and with all repairs at most."""

    name: ClassVar[str] = "summary"
    model: str
    prompts: int
    input_tokens: int
    dollars: float
    at_most: float
    budget: float | None


@dataclasses.dataclass(frozen=True)
class CostReported(Event):
    """What the findings of the seeds cost. ``findings_per_dollar`` is None where nothing was paid for the answers."""

    name: ClassVar[str] = "cost"
    queries: int
    tokens: int
    dollars: float
    valid_share: float
    findings: int
    buckets: int
    findings_per_dollar: float | None
