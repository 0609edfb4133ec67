"""Budgets that end a campaign, also that of a source that costs money."""

from __future__ import annotations

import dataclasses

import pytest

from eqfuzz.campaign.configuration import Budget
from eqfuzz.campaign.engine.budget import BudgetMonitor


@dataclasses.dataclass
class Counted:
    cpu: float = 0.0
    judged: int = 0
    new: int = 0
    seconds: float = 0.0

    def cpu_seconds(self) -> float:
        return self.cpu

    def cells(self) -> int:
        return self.judged

    def buckets(self) -> int:
        return self.new


@dataclasses.dataclass
class Writer:
    trouble: str = ""
    is_broke: bool = False
    is_silent: bool = False


def budgeting(budget: Budget, writer: Writer | None = None, counted: Counted | None = None) -> BudgetMonitor:
    return BudgetMonitor(budget, counted or Counted(), writer)


@pytest.mark.parametrize(
    ("limits", "counted", "spent"),
    [
        ({}, Counted(1e9, 10**9, 10**9), ""),
        ({"cpu": 10}, Counted(cpu=9.9), ""),
        ({"cpu": 10}, Counted(cpu=10), "cpu"),
        ({"cells": 10}, Counted(judged=9), ""),
        ({"cells": 10}, Counted(judged=10), "cells"),
        ({"findings": 2}, Counted(new=1), ""),
        ({"findings": 2}, Counted(new=2), "findings"),
        ({"cpu": 10, "cells": 10, "findings": 2}, Counted(5, 11, 3), "cells"),
        ({"dollars": 0}, Counted(), ""),
    ],
)
def test_spent_budget_is_named(limits, counted, spent):
    assert budgeting(Budget(**limits), counted=counted).spent() == spent


def test_time_budget_is_that_of_the_call():
    counted = Counted(seconds=59)
    monitor = budgeting(Budget(time=60), counted=counted)
    assert not monitor.is_late
    counted.seconds = 61
    assert monitor.is_late
    assert monitor.spent() == "time"


@pytest.mark.parametrize(
    ("writer", "why"),
    [
        (None, "seeds"),
        (Writer(), "seeds"),
        (Writer("refused"), "model"),
        (Writer("the budget is spent", is_broke=True), "dollars"),
    ],
)
def test_lack_of_seeds_has_a_reason(writer, why):
    assert budgeting(Budget(), writer).why_no_seed() == why


def test_spent_dollars_end_a_campaign_without_other_budgets():
    broke = Writer(is_broke=True)
    assert not budgeting(Budget(dollars=1), broke).may_plan()
    assert budgeting(Budget(dollars=1, cells=5), broke).may_plan()
    assert budgeting(Budget(dollars=1), Writer()).may_plan()
    assert budgeting(Budget()).may_plan()


def test_campaign_waits_for_a_silent_server():
    assert budgeting(Budget(), Writer(is_silent=True)).is_answer_awaited()
    assert not budgeting(Budget(), Writer()).is_answer_awaited()
    assert not budgeting(Budget()).is_answer_awaited()
