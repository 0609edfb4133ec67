"""Checks of ``eqfuzz rules check``: every rule is proved once, in a child process, since a wrong rule may crash it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from eqfuzz.commands.each_rule import each_rule
from eqfuzz.events.event import Handler
from eqfuzz.events.rules import CheckStarted, CheckSummary, RuleChecked, RuleStarted
from eqfuzz.rewrite.rules.rule import Rule
from eqfuzz.run.messages.job import JobReply
from eqfuzz.run.messages.rule_jobs import ProveJob, RuleProved


def check(
    rules: Sequence[Rule], handler: Handler, *, draws: int, jobs: int, rules_from: Sequence[Path] = ()
) -> CheckSummary:
    """Prove ``rules`` and hand every event to ``handler``, one at a time; the last is the returned summary.

    Ctrl-C ends it early with a partial summary. Raises RunnerFailed when no process can be started.
    """
    began = time.monotonic()
    checked: list[RuleChecked] = []
    paths = tuple(str(path.absolute()) for path in rules_from)

    def ended(index: int, rule: Rule, reply: JobReply[RuleProved]) -> None:
        event = _checked(index, rule, reply)
        checked.append(event)
        handler(event)

    handler(CheckStarted(rules=len(rules), draws=draws, jobs=jobs))
    interrupted = each_rule(
        rules,
        ProveJob,
        lambda rule: ProveJob(rule=rule.name, draws=draws, rules_from=paths),
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


def _checked(index: int, rule: Rule, reply: JobReply[RuleProved]) -> RuleChecked:
    proof = reply.answer or RuleProved(draws=0, rewrites=0, problems=(), seconds=0.0)
    problems = list(proof.problems)
    if reply.exit.reason != "done":
        problems.append(f"trying it ended the process: {reply.exit.detail}")
    return RuleChecked(
        index=index,
        rule=rule.name,
        place=rule.place,
        holds=not problems,
        draws=proof.draws,
        rewrites=proof.rewrites,
        problems=problems,
        seconds=proof.seconds,
    )
