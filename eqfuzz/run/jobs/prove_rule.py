"""The proof of one rule in a child, which a wrong rule may kill."""

from __future__ import annotations

import time
import traceback

from eqfuzz.errors import error_line
from eqfuzz.rewrite.proof.proof import prove
from eqfuzz.rewrite.rules.user_rules import rules_for_children
from eqfuzz.run.messages.job import Emit, JobTarget, StageEntered
from eqfuzz.run.messages.rule_jobs import ProveJob, RuleProved

SECONDS_PER_DRAW = 1.0
SECONDS_AT_LEAST = 120.0
"""Wall limit of one proof; two hundred draws take about half a second."""


def run_proof(job: ProveJob, emit: Emit) -> None:
    """Prove the rule and report ``RuleProved``."""
    emit(StageEntered(stage="proof", seconds=SECONDS_AT_LEAST + SECONDS_PER_DRAW * job.draws))
    rule = rules_for_children(job.rules_from)[job.rule]
    began = time.monotonic()
    draws, rewrites = 0, 0
    try:
        proof = prove(rule, job.draws)
    except Exception as error:  # preconditions, generators and examples are the rule's own code: it does not hold
        problems: tuple[str, ...] = (f"trying it raises {_in_words(error)}",)
    else:
        draws, rewrites, problems = proof.draws, proof.rewrites, tuple(proof.problems)
    seconds = round(time.monotonic() - began, 3)
    emit(RuleProved(draws=draws, rewrites=rewrites, problems=problems, seconds=seconds))


def _in_words(error: Exception) -> str:
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{error_line(error)} ({frame.filename}:{frame.lineno})"


TARGET = JobTarget({ProveJob: run_proof})
