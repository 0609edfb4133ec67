"""The bounded campaign behind ``eqfuzz rules check``: every rule proved once, in processes that it may kill."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from eqfuzz.commands.each_rule import each_rule
from eqfuzz.events.event import Handler
from eqfuzz.events.rules import CheckStarted, CheckSummary, RuleChecked, RuleStarted
from eqfuzz.rewrite.rules.library import place_of
from eqfuzz.rewrite.rules.rule import Rule


def check(
    rules: Sequence[Rule], handler: Handler, *, draws: int, jobs: int, rules_from: Sequence[Path] = ()
) -> CheckSummary:
    """Prove ``rules`` and hand every event to ``handler``, one at a time; the last is the returned summary.

    Ctrl-C ends it early with a partial summary. Raises RunnerFailed when no process can be started.
    """
    began = time.monotonic()
    checked: list[RuleChecked] = []

    def ended(index: int, rule: Rule, events: list[dict[str, Any]]) -> None:
        event = _checked(index, rule, events)
        checked.append(event)
        handler(event)

    handler(CheckStarted(rules=len(rules), draws=draws, jobs=jobs))
    interrupted = each_rule(
        rules,
        "eqfuzz.run.jobs.prove_rule:run_proof",
        {"draws": draws, "rules_from": [str(p.absolute()) for p in rules_from]},
        lambda index, rule: handler(RuleStarted(index=index, rule=rule.name)),
        ended,
        jobs=jobs,
    )
    summary = CheckSummary(
        rules=len(rules),
        checked=len(checked),
        failed=sorted(c.rule for c in checked if not c.holds),
        draws=sum(c.draws for c in checked),
        rewrites=sum(c.rewrites for c in checked),
        interrupted=interrupted,
        seconds=round(time.monotonic() - began, 3),
    )
    handler(summary)
    return summary


def _checked(index: int, rule: Rule, events: list[dict[str, Any]]) -> RuleChecked:
    proved: dict[str, Any] = {"draws": 0, "rewrites": 0, "problems": [], "seconds": 0.0}
    for event in events:
        if event["event"] == "proved":
            proved = {key: event[key] for key in proved}
        elif event["event"] == "exit" and event["reason"] != "done":
            proved["problems"] = [*proved["problems"], f"trying it ended the process: {event['detail']}"]
    return RuleChecked(index=index, rule=rule.name, place=place_of(rule), holds=not proved["problems"], **proved)
