"""Budgets of a campaign, also that of a source that costs money."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eqfuzz.campaign.configuration import Budget
from eqfuzz.campaign.metrics import CampaignMetrics

if TYPE_CHECKING:
    from eqfuzz.campaign.sources.llm import LlmSeeds


class BudgetMonitor:
    """Compares ``metrics`` with ``budget``, whose time is that of this call. ``llm_source`` asks a model."""

    def __init__(self, budget: Budget, metrics: CampaignMetrics, llm_source: LlmSeeds | None) -> None:
        self._budget = budget
        self._metrics = metrics
        self._llm_source = llm_source

    @property
    def is_late(self) -> bool:
        return self._budget.time is not None and self._metrics.seconds > self._budget.time

    def spent(self) -> str:
        """Name of the spent budget; empty for none."""
        budget = self._budget
        if self.is_late:
            return "time"
        if budget.cpu is not None and self._metrics.cpu_seconds() >= budget.cpu:
            return "cpu"
        if budget.cells is not None and self._metrics.cells() >= budget.cells:
            return "cells"
        if budget.findings is not None and self._metrics.buckets() >= budget.findings:
            return "findings"
        return ""

    def may_plan(self) -> bool:
        """False once the money for a model is spent, unless the campaign has another budget."""
        budget, source = self._budget, self._llm_source
        others = (budget.time, budget.cpu, budget.cells, budget.findings)
        return source is None or not source.is_broke or any(limit is not None for limit in others)

    def is_answer_awaited(self) -> bool:
        """Whether the only reason for no seed is a pause after a server did not answer."""
        return self._llm_source is not None and self._llm_source.is_silent

    def why_no_seed(self) -> str:
        """Why a campaign ends for which no source gives a seed: seeds, dollars or model."""
        if self._llm_source is None or not self._llm_source.trouble:
            return "seeds"
        return "dollars" if self._llm_source.is_broke else "model"
