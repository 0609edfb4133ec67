"""Money: set aside before every attempt, settled by what came of it; a journal remembers both, and the answers.

The sum of what was paid, of what is set aside and of what may have been paid never exceeds the budget.
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
    """Dollars since the journal began: ``paid`` for answers; ``lost`` is the most that attempts can have cost which
    brought none (cut off, killed); ``aside`` is for attempts under way. ``estimated`` answers had no usable figures.
    """

    attempts: int
    answers: int
    paid: Decimal
    lost: Decimal
    aside: Decimal
    input_tokens: int
    output_tokens: int
    estimated: int

    @property
    def dollars(self) -> Decimal:
        """The most that may have been paid by now."""
        return self.paid + self.lost


class BudgetLedger:
    """``budget`` in dollars is for all that the journal speaks of, earlier runs included; None: no end.

    Attempts that an earlier run began and never settled were cut off by its death: they are lost. Raises
    InvalidResponseLog.
    """

    def __init__(self, journal: ResponseLog, budget: Decimal | None) -> None:
        self.budget = budget
        self._journal = journal
        self._lock = threading.Lock()
        self._aside: dict[int, Decimal] = {}
        self._answers: dict[str, Answer] = {}
        self._questions: dict[int, str] = {}
        self._paid = self._lost = ZERO
        self._last = self._input = self._output = self._estimated = 0
        for number, entry in enumerate(journal.entries, 1):
            try:
                self._take(entry)
            except (KeyError, TypeError, ValueError, InvalidOperation):
                raise InvalidResponseLog(
                    f"{journal.path}:{number}: damaged: no entry of ours; choose another --out"
                ) from None
        self._lost += sum(self._aside.values(), ZERO)
        self._aside.clear()

    def _take(self, entry: dict[str, Any]) -> None:
        attempt = int(entry["attempt"])
        if "question" in entry:
            self._last = max(self._last, attempt)
            self._aside[attempt] = Decimal(entry["at_most"])
            self._questions[attempt] = entry["question"]
            return
        del self._aside[attempt]
        if "answer" in entry:
            self._keep(self._questions.pop(attempt), Answer.from_json(entry["answer"]))
        else:
            self._lost += Decimal(entry["lost"])

    def _keep(self, question: str, answer: Answer) -> None:
        self._answers[question] = answer
        self._paid += answer.dollars
        self._input += answer.input_tokens
        self._output += answer.output_tokens
        self._estimated += answer.estimated

    def answer(self, question: str) -> Answer | None:
        """What was answered to the question of that key, if it ever was."""
        with self._lock:
            found = self._answers.get(question)
        return dataclasses.replace(found, kept=True, seconds=0.0) if found is not None else None

    def set_aside(self, question: str, at_most: Decimal) -> int | None:
        """The number of an attempt that may cost so much, or None where the budget does not allow for it (now)."""
        with self._lock:
            held = self._paid + self._lost + sum(self._aside.values(), ZERO)
            if self.budget is not None and held + at_most > self.budget:
                return None
            self._last += 1
            attempt = self._last
            self._aside[attempt] = at_most
            self._questions[attempt] = question
            self._journal.append({"attempt": attempt, "question": question, "at_most": str(at_most)})
            return attempt

    def pay(self, attempt: int, answer: Answer) -> None:
        """The attempt brought ``answer``, which will never be paid again."""
        with self._lock:
            self._journal.append({"attempt": attempt, "answer": answer.to_json()})
            del self._aside[attempt]
            self._keep(self._questions.pop(attempt), answer)

    def fail(self, attempt: int, why: str, *, charged: bool) -> None:
        """The attempt brought nothing. ``charged``: the server may want its money all the same."""
        with self._lock:
            lost = self._aside[attempt] if charged else ZERO
            self._journal.append({"attempt": attempt, "lost": str(lost), "why": why})
            del self._aside[attempt], self._questions[attempt]
            self._lost += lost

    def waits(self) -> bool:
        """Whether attempts are under way that may free what they set aside."""
        with self._lock:
            return bool(self._aside)

    def account(self) -> Account:
        with self._lock:
            aside = sum(self._aside.values(), ZERO)
            figures = self._input, self._output, self._estimated
            return Account(self._last, len(self._answers), self._paid, self._lost, aside, *figures)
