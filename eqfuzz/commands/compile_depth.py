"""Measurement of ``eqfuzz rules survival``: the compile depth of every rule."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from eqfuzz.commands.each_rule import each_rule
from eqfuzz.events.event import Handler
from eqfuzz.events.rules import CompileDepthStarted, CompileDepthSummary, RuleMeasured, RuleStarted
from eqfuzz.rewrite.rules.rule import Rule
from eqfuzz.run.messages.job import JobReply
from eqfuzz.run.messages.rule_jobs import CompileDepthJob, CompileDepthMeasured


def survival(
    rules: Sequence[Rule], handler: Handler, *, jobs: int, rules_from: Sequence[Path] = ()
) -> CompileDepthSummary:
    """Measure ``rules`` and hand every event to ``handler``, one at a time; the last is the returned summary.

    Ctrl-C ends it early with a partial summary. Raises RunnerFailed when no process can be started.
    """
    began = time.monotonic()
    measured: list[RuleMeasured] = []
    paths = tuple(str(path.absolute()) for path in rules_from)

    def ended(index: int, rule: Rule, reply: JobReply[CompileDepthMeasured]) -> None:
        event = _measured(index, rule, reply)
        measured.append(event)
        handler(event)

    handler(CompileDepthStarted(rules=len(rules), jobs=jobs))
    interrupted = each_rule(
        rules,
        CompileDepthJob,
        lambda rule: CompileDepthJob(rule=rule.name, rules_from=paths),
        lambda index, rule: handler(RuleStarted(index=index, rule=rule.name)),
        ended,
        jobs=jobs,
    )
    summary = CompileDepthSummary(
        rules=len(rules),
        levels=dict(sorted(Counter(m.level for m in measured if m.level is not None).items())),
        unmeasured=sorted(m.rule for m in measured if m.level is None),
        interrupted=interrupted,
        seconds=round(time.monotonic() - began, 3),
    )
    handler(summary)
    return summary


def _measured(index: int, rule: Rule, reply: JobReply[CompileDepthMeasured]) -> RuleMeasured:
    if reply.answer is None:
        reason = f"measuring it ended the process: {reply.exit.detail}"
        return RuleMeasured(index=index, rule=rule.name, level=None, reason=reason)
    return RuleMeasured(index=index, rule=rule.name, level=reply.answer.level, reason=reply.answer.reason)
