"""Events of seeds written by a language model."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from eqfuzz.events.event import Event


@dataclasses.dataclass(frozen=True, kw_only=True)
class WritingStarted(Event):
    """First event of a call."""

    name: ClassVar[str] = "start"

    model: str
    endpoint: str
    prompts: list[str]
    count: int
    seed: int
    budget: float | None
    """Dollars; None for no limit."""
    spent: float
    """Dollars of earlier calls, by the response log."""
    out: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class AnswerJudged:
    """One response for a sample."""

    reason: str
    """Why it is rejected; empty if it is accepted."""
    message: str
    input_tokens: int
    output_tokens: int
    dollars: float
    kept: bool
    """Whether it was read from the response log, at no cost."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class SampleEnded(Event):
    """A sample was accepted as a seed, or rejected."""

    name: ClassVar[str] = "sample"

    number: int
    prompt: str
    part: str
    """Part of the compiler that was to be reached; empty for none."""
    reason: str
    """Why it is rejected; empty if it is accepted."""
    message: str
    file: str
    """The accepted seed."""
    sites: int
    reached: bool | None
    """Whether the seed reaches ``part``; None without one."""
    rounds: list[AnswerJudged]


@dataclasses.dataclass(frozen=True, kw_only=True)
class PromptShown(Event):
    """With ``--dry-run``: a request that is not sent."""

    name: ClassVar[str] = "prompt"

    number: int
    prompt: str
    part: str
    messages: list[dict[str, str]]
    input_tokens: int
    dollars: float
    """Estimated cost of the response."""
    at_most: float
    """Upper bound of its cost, in dollars."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class PromptTally:
    """Number of samples of one prompt."""

    asked: int = 0
    accepted: int = 0


@dataclasses.dataclass(frozen=True, kw_only=True)
class WritingEnded(Event):
    """All samples are accepted or rejected, or the call was ended early."""

    name: ClassVar[str] = "generation"

    model: str
    count: int
    asked: int
    """Samples with a response."""
    accepted: int
    first_valid: int
    """Samples whose first response was accepted."""
    repaired: int
    """Samples with a later response that was accepted."""
    valid_share: float
    first: dict[str, int]
    """Rejected first responses by reason."""
    failed: dict[str, int]
    """Rejected samples by reason."""
    prompts: dict[str, PromptTally]
    parts: int
    reached: list[str]
    """Parts of the compiler that were reached."""
    queries: int
    """Responses."""
    kept: int
    """Responses that were read from the response log."""
    retries: int
    estimated: int
    """Responses without usable token counts, which count as their upper bound."""
    input_tokens: int
    """Of all responses, like ``output_tokens`` and ``dollars``."""
    output_tokens: int
    dollars: float
    paid: float
    """Dollars of this call."""
    lost: float
    """Dollars of ``paid`` for attempts without a response, which may be charged."""
    spent: float
    """Dollars of all calls, by the response log."""
    budget: float | None
    why: str
    """Why it ended early: ``budget``, ``endpoint`` or ``interrupt``; else empty."""
    trouble: str
    interrupted: bool
    seconds: float
    out: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class WritingSummary(WritingEnded):
    """The same as the last event of a call that runs none of the seeds."""

    name: ClassVar[str] = "summary"


@dataclasses.dataclass(frozen=True, kw_only=True)
class DrySummary(Event):
    """Last event of a dry run: estimated cost of all first responses, and upper bound with all repairs."""

    name: ClassVar[str] = "summary"

    model: str
    prompts: int
    input_tokens: int
    dollars: float
    at_most: float
    budget: float | None


@dataclasses.dataclass(frozen=True, kw_only=True)
class CostReported(Event):
    """Cost of the seeds' findings. ``findings_per_dollar`` is None if no response was paid for."""

    name: ClassVar[str] = "cost"

    queries: int
    tokens: int
    dollars: float
    valid_share: float
    findings: int
    buckets: int
    findings_per_dollar: float | None
