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
    """Name of the model."""
    endpoint: str
    """Address of the server."""
    prompts: list[str]
    """Names of the prompts."""
    count: int
    """Number of samples."""
    seed: int
    """The random seed."""
    budget: float | None
    """Dollars; None for no limit."""
    spent: float
    """Dollars of earlier calls, by the response log."""
    out: str
    """Folder of the seeds."""


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
    """Position among the samples, from 0."""
    prompt: str
    """Name of its prompt."""
    part: str
    """Part of the compiler that was to be reached; empty for none."""
    reason: str
    """Why it is rejected; empty if it is accepted."""
    message: str
    """What is wrong with its last response, one line; empty if it is accepted."""
    file: str
    """The accepted seed."""
    sites: int
    """Number of sites of all rules in the seed."""
    reached: bool | None
    """Whether the seed reaches ``part``; None without one."""
    rounds: list[AnswerJudged]
    """Its responses in their order, repairs included."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class PromptShown(Event):
    """With ``--dry-run``: a request that is not sent."""

    name: ClassVar[str] = "prompt"

    number: int
    """Position among the samples, from 0."""
    prompt: str
    """Name of its prompt."""
    part: str
    """Part of the compiler that is to be reached; empty for none."""
    messages: list[dict[str, str]]
    """Messages to the model, each with ``role`` and ``content``."""
    input_tokens: int
    """Estimated number of tokens."""
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
    """Name of the model."""
    count: int
    """Number of samples that were asked for."""
    asked: int
    """Samples with a response."""
    accepted: int
    """Samples that became seeds."""
    first_valid: int
    """Samples whose first response was accepted."""
    repaired: int
    """Samples with a later response that was accepted."""
    valid_share: float
    """``accepted`` of ``asked``, between 0 and 1."""
    first: dict[str, int]
    """Rejected first responses by reason."""
    failed: dict[str, int]
    """Rejected samples by reason."""
    prompts: dict[str, PromptTally]
    """Counts by name of the prompt."""
    parts: int
    """Number of parts of the compiler that were to be reached."""
    reached: list[str]
    """Parts of the compiler that were reached."""
    queries: int
    """Responses."""
    kept: int
    """Responses that were read from the response log."""
    retries: int
    """Requests that were sent again."""
    estimated: int
    """Responses without usable token counts, which count as their upper bound."""
    input_tokens: int
    """Of all responses, like ``output_tokens`` and ``dollars``."""
    output_tokens: int
    """See ``input_tokens``."""
    dollars: float
    """See ``input_tokens``; the response log's own are included."""
    paid: float
    """Dollars of this call."""
    lost: float
    """Dollars of ``paid`` for attempts without a response, which may be charged."""
    spent: float
    """Dollars of all calls, by the response log."""
    budget: float | None
    """Dollars; None for no limit."""
    why: str
    """Why it ended early: ``budget``, ``endpoint`` or ``interrupt``; else empty."""
    trouble: str
    """What the server refused, one line; empty if it refused nothing."""
    interrupted: bool
    """Whether it was interrupted."""
    seconds: float
    """Wall seconds."""
    out: str
    """Folder of the seeds."""


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
    """Cost of the seeds' findings."""

    name: ClassVar[str] = "cost"

    queries: int
    """Number of responses."""
    tokens: int
    """Tokens of all responses and their requests."""
    dollars: float
    """Cost of all responses."""
    valid_share: float
    """Share of the samples that became seeds, between 0 and 1."""
    findings: int
    """Findings that are no known issue."""
    buckets: int
    """Buckets of ``findings``."""
    findings_per_dollar: float | None
    """None if no response was paid for."""
