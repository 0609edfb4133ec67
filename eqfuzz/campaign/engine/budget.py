"""When a campaign has had enough: its budgets, and what of them the source that costs money has a say in."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from eqfuzz.campaign.configuration import Budget
from eqfuzz.campaign.metrics import Statistics

if TYPE_CHECKING:
    from eqfuzz.campaign.sources.llm import LlmSeeds


class BudgetMonitor:
    """Watches ``budget`` over what ``statistics`` count; its time runs from here on. ``writer`` asks a model."""

    def __init__(self, budget: Budget, statistics: Statistics, writer: LlmSeeds | None) -> None:
        self._budget = budget
        self._statistics = statistics
        self._writer = writer
        self._deadline = None if budget.time is None else time.monotonic() + budget.time

    @property
    def is_late(self) -> bool:
        return self._deadline is not None and time.monotonic() > self._deadline

    def spent(self) -> str:
        """The budget that is spent; empty while none is."""
        budget = self._budget
        if self.is_late:
            return "time"
        if budget.cpu is not None and self._statistics.cpu_seconds() >= budget.cpu:
            return "cpu"
        if budget.cells is not None and self._statistics.cells() >= budget.cells:
            return "cells"
        if budget.findings is not None and self._statistics.buckets() >= budget.findings:
            return "findings"
        return ""

    def may_plan(self) -> bool:
        """False once the money for a model is spent and nothing else is to end the campaign."""
        budget, writer = self._budget, self._writer
        others = (budget.time, budget.cpu, budget.cells, budget.findings)
        return writer is None or not writer.is_broke or any(limit is not None for limit in others)

    def is_answer_awaited(self) -> bool:
        """Whether there is no seed only because a server is left alone for a while."""
        return self._writer is not None and self._writer.is_silent

    def why_no_seed(self) -> str:
        """What a campaign ends of that no source gives a seed for any more."""
        if self._writer is None or not self._writer.trouble:
            return "seeds"
        return "dollars" if self._writer.is_broke else "model"
