"""The budget ledger: money is reserved before every attempt, and settled or forfeited afterwards.

The sum of what is paid, reserved and forfeited never exceeds the budget. The response log holds all of it, and the
answers.
"""

from __future__ import annotations

import dataclasses
import threading
from decimal import Decimal, InvalidOperation
from typing import Any

from eqfuzz.generate.llm.model.question import Answer
from eqfuzz.generate.llm.model.response_log import InvalidResponseLog, ResponseLog

ZERO = Decimal(0)


@dataclasses.dataclass(frozen=True)
class Account:
    """Totals since the response log was created, money in dollars.

    Attributes:
        attempts: Requests that were sent.
        answers: Responses that were received.
        paid: For answers.
        forfeited: The most that attempts without an answer may have cost.
        reserved: The most that attempts in progress may cost.
        input_tokens: Of all answers.
        output_tokens: Of all answers.
        estimated: Answers without usable token counts.
    """

    attempts: int
    answers: int
    paid: Decimal
    forfeited: Decimal
    reserved: Decimal
    input_tokens: int
    output_tokens: int
    estimated: int

    @property
    def dollars(self) -> Decimal:
        """The most that may have been spent."""
        return self.paid + self.forfeited


class BudgetLedger:
    """The ledger of one response log; threads may share it.

    ``budget`` in dollars covers everything in the log, earlier runs included; None: unlimited. Attempts that an earlier
    run did not settle before it died are forfeited. Raises InvalidResponseLog.
    """

    def __init__(self, log: ResponseLog, budget: Decimal | None) -> None:
        self.budget = budget
        self._log = log
        self._lock = threading.Lock()
        self._reserved: dict[int, Decimal] = {}
        self._answers: dict[str, Answer] = {}
        self._questions: dict[int, str] = {}
        self._paid = self._forfeited = ZERO
        self._last = self._input = self._output = self._estimated = 0
        for number, entry in enumerate(log.entries, 1):
            try:
                self._take(entry)
            except (KeyError, TypeError, ValueError, InvalidOperation):
                raise InvalidResponseLog(
                    f"{log.path}:{number}: damaged: not an entry of this log; choose another --out"
                ) from None
        self._forfeited += sum(self._reserved.values(), ZERO)
        self._reserved.clear()

    def _take(self, entry: dict[str, Any]) -> None:
        attempt = int(entry["attempt"])
        if "question" in entry:
            self._last = max(self._last, attempt)
            self._reserved[attempt] = Decimal(entry["at_most"])
            self._questions[attempt] = entry["question"]
            return
        del self._reserved[attempt]
        if "answer" in entry:
            self._record(self._questions.pop(attempt), Answer.from_json(entry["answer"]))
        else:
            self._forfeited += Decimal(entry["lost"])

    def _record(self, question: str, answer: Answer) -> None:
        self._answers[question] = answer
        self._paid += answer.dollars
        self._input += answer.input_tokens
        self._output += answer.output_tokens
        self._estimated += answer.estimated

    def answer(self, question: str) -> Answer | None:
        """The logged answer to the question with this key; None without one."""
        with self._lock:
            answer = self._answers.get(question)
        return dataclasses.replace(answer, kept=True, seconds=0.0) if answer is not None else None

    def reserve(self, question: str, at_most: Decimal) -> int | None:
        """Reserve ``at_most`` dollars for an attempt; its number, or None where the budget does not allow it now."""
        with self._lock:
            committed = self._paid + self._forfeited + sum(self._reserved.values(), ZERO)
            if self.budget is not None and committed + at_most > self.budget:
                return None
            self._last += 1
            attempt = self._last
            self._reserved[attempt] = at_most
            self._questions[attempt] = question
            self._log.append({"attempt": attempt, "question": question, "at_most": str(at_most)})
            return attempt

    def settle(self, attempt: int, answer: Answer) -> None:
        """Pay for an attempt that got ``answer``, which is logged and never paid again."""
        with self._lock:
            self._log.append({"attempt": attempt, "answer": answer.to_json()})
            del self._reserved[attempt]
            self._record(self._questions.pop(attempt), answer)

    def fail(self, attempt: int, why: str, *, charged: bool) -> None:
        """Release an attempt without an answer. ``charged``: the server may charge for it: its money is forfeited."""
        with self._lock:
            forfeited = self._reserved[attempt] if charged else ZERO
            self._log.append({"attempt": attempt, "lost": str(forfeited), "why": why})
            del self._reserved[attempt], self._questions[attempt]
            self._forfeited += forfeited

    def has_reserved(self) -> bool:
        """Whether money is reserved for attempts in progress, which may become free."""
        with self._lock:
            return bool(self._reserved)

    def account(self) -> Account:
        with self._lock:
            return Account(
                attempts=self._last,
                answers=len(self._answers),
                paid=self._paid,
                forfeited=self._forfeited,
                reserved=sum(self._reserved.values(), ZERO),
                input_tokens=self._input,
                output_tokens=self._output,
                estimated=self._estimated,
            )
