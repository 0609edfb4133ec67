"""The loop from a prompt to a seed: ask the model, validate the answer, and ask for a repair with the problem."""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable, Callable, Sequence
from decimal import Decimal

from eqfuzz.generate.llm.extraction import code_in
from eqfuzz.generate.llm.model.client import BudgetSpent, Client, NoAnswer
from eqfuzz.generate.llm.model.question import Answer, Message, Question
from eqfuzz.generate.llm.validation import Reason, ValidationResult
from eqfuzz.generate.llm.white_box import CompilerPart

Check = Callable[[str, Sequence[CompilerPart]], Awaitable[ValidationResult]]
"""`Validator.check`, run in a thread."""

SHOWN_BYTES = 16_000
"""Maximal bytes of an answer that are repeated in a request for a repair."""


@dataclasses.dataclass(frozen=True)
class Round:
    """One answer, its program, and the result of its validation. ``answer`` is None where the model gave none."""

    answer: Answer | None
    code: str
    validation: ValidationResult


@dataclasses.dataclass(frozen=True)
class SampleResult:
    """All rounds of one request for a seed; the last one decides."""

    rounds: tuple[Round, ...]

    @property
    def code(self) -> str:
        return self.rounds[-1].code

    @property
    def validation(self) -> ValidationResult:
        return self.rounds[-1].validation

    @property
    def answers(self) -> list[Answer]:
        return [r.answer for r in self.rounds if r.answer is not None]

    @property
    def dollars(self) -> Decimal:
        """The cost of all answers, logged ones included."""
        return sum((answer.dollars for answer in self.answers), Decimal(0))


@dataclasses.dataclass(frozen=True)
class RequestSettings:
    """Generation settings: at most ``max_output`` tokens per answer, and ``repairs`` further rounds."""

    max_output: int = 2048
    temperature: float | None = None
    repairs: int = 2


async def generate_sample(
    client: Client,
    check: Check,
    settings: RequestSettings,
    messages: tuple[Message, ...],
    sample: int,
    watched: Sequence[CompilerPart],
) -> SampleResult:
    """Ask for a program, validate it, and ask for repairs. Raises RequestRejected."""
    rounds: list[Round] = []
    conversation = messages
    while True:
        question = Question(client.endpoint.model, conversation, sample, settings.max_output, settings.temperature)
        try:
            answer = await client.ask(question)
        except (BudgetSpent, NoAnswer) as error:
            if not rounds:  # otherwise the problem of the last answer is more informative
                reason = Reason.NO_ANSWER if isinstance(error, NoAnswer) else Reason.BUDGET
                message = str(error) or "what is left of the budget may not be enough"
                rounds.append(Round(None, "", ValidationResult(reason, message)))
            return SampleResult(tuple(rounds))
        code = code_in(answer.text)
        validation = await _validated(check, answer, code, watched)
        rounds.append(Round(answer, code, validation))
        if validation.reason is None or len(rounds) > settings.repairs:
            return SampleResult(tuple(rounds))
        excerpt = answer.text.encode()[:SHOWN_BYTES].decode(errors="ignore") or "(nothing)"
        request = {"role": "user", "content": client.endpoint.hide(_repair_request(code, validation))}
        conversation = (*messages, {"role": "assistant", "content": excerpt}, request)


async def _validated(check: Check, answer: Answer, code: str, watched: Sequence[CompilerPart]) -> ValidationResult:
    if not answer.text.strip():
        return ValidationResult(Reason.EMPTY, "the answer was empty")
    if not code:
        return ValidationResult(Reason.NO_CODE, "there was no Python code in the answer")
    validation = await check(code, watched)
    if answer.finish == "length" and validation.reason in (Reason.SYNTAX, Reason.FORMAT):
        return ValidationResult(
            Reason.CUT_OFF, "the answer was longer than allowed and was cut off: write a shorter program"
        )
    return validation


def _repair_request(code: str, validation: ValidationResult) -> str:
    """The request for a repair: the exact message of the problem, and the line where that is known."""
    lines = code.split("\n")
    place = ""
    if validation.line is not None and 1 <= validation.line <= len(lines):
        place = f"\nLine {validation.line} is: {lines[validation.line - 1].strip()[:200]}"
    return (
        f"This cannot be used. The problem: {validation.message}.{place}\n"
        "Correct it, keep to the rules given before, and answer with the whole corrected program in one code block."
    )
