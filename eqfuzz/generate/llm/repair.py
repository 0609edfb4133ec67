"""From a prompt to a seed: the model is asked, its answer checked, and what is wrong told back to it."""

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
"""`Validator.check`, in a thread."""

SHOWN_BYTES = 16_000
"""Of an answer that is told back."""


@dataclasses.dataclass(frozen=True)
class Round:
    """One answer and what it is. ``answer`` is None where there is none."""

    answer: Answer | None
    code: str
    checked: ValidationResult


@dataclasses.dataclass(frozen=True)
class SampleResult:
    """All rounds for one seed that was asked for; the last one decides."""

    rounds: tuple[Round, ...]

    @property
    def code(self) -> str:
        return self.rounds[-1].code

    @property
    def checked(self) -> ValidationResult:
        return self.rounds[-1].checked

    @property
    def answers(self) -> list[Answer]:
        return [r.answer for r in self.rounds if r.answer is not None]

    @property
    def dollars(self) -> Decimal:
        """What its answers cost, whenever they were paid."""
        return sum((answer.dollars for answer in self.answers), Decimal(0))


@dataclasses.dataclass(frozen=True)
class RequestSettings:
    """How the model is asked: ``max_output`` tokens an answer; ``repairs`` further rounds at most."""

    max_output: int = 2048
    temperature: float | None = None
    repairs: int = 2


async def make(
    client: Client,
    check: Check,
    asking: RequestSettings,
    messages: tuple[Message, ...],
    sample: int,
    watched: Sequence[CompilerPart],
) -> SampleResult:
    """Ask, check, and have repaired what is wrong. Raises Refused where the server wants none of it."""
    rounds: list[Round] = []
    told = messages
    while True:
        question = Question(client.endpoint.model, told, sample, asking.max_output, asking.temperature)
        try:
            answer = await client.ask(question)
        except (BudgetSpent, NoAnswer) as error:
            if not rounds:  # what is wrong with an answer says more than that nobody repairs it
                reason = Reason.NO_ANSWER if isinstance(error, NoAnswer) else Reason.BUDGET
                words = str(error) or "what is left of the budget may not be enough"
                rounds.append(Round(None, "", ValidationResult(reason, words)))
            return SampleResult(tuple(rounds))
        code = code_in(answer.text)
        checked = await _checked(check, answer, code, watched)
        rounds.append(Round(answer, code, checked))
        if checked.reason is None or len(rounds) > asking.repairs:
            return SampleResult(tuple(rounds))
        shown = answer.text.encode()[:SHOWN_BYTES].decode(errors="ignore") or "(nothing)"
        request = {"role": "user", "content": client.endpoint.hide(_request(code, checked))}
        told = (*messages, {"role": "assistant", "content": shown}, request)


async def _checked(check: Check, answer: Answer, code: str, watched: Sequence[CompilerPart]) -> ValidationResult:
    if not answer.text.strip():
        return ValidationResult(Reason.EMPTY, "the answer was empty")
    if not code:
        return ValidationResult(Reason.NO_CODE, "there was no Python code in the answer")
    checked = await check(code, watched)
    if answer.finish == "length" and checked.reason in (Reason.SYNTAX, Reason.FORMAT):
        return ValidationResult(
            Reason.CUT_OFF, "the answer was longer than allowed and was cut off: write a shorter program"
        )
    return checked


def _request(code: str, checked: ValidationResult) -> str:
    """What the model is told of its mistake: the exact message, and the line where one is known."""
    lines = code.split("\n")
    place = ""
    if checked.line is not None and 1 <= checked.line <= len(lines):
        place = f"\nLine {checked.line} is: {lines[checked.line - 1].strip()[:200]}"
    return (
        f"This cannot be used. The problem: {checked.message}.{place}\n"
        "Correct it, keep to the rules given before, and answer with the whole corrected program in one code block."
    )
