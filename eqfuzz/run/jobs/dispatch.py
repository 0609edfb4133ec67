"""Jobs about programs, by class: what a child of the ordinary pool can do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from eqfuzz.program.program import InvalidSeed
from eqfuzz.rewrite.explanation import explain
from eqfuzz.rewrite.rules.library import equation_of
from eqfuzz.rewrite.rules.user_rules import rules_for_children
from eqfuzz.run.jobs.export_program import export_program
from eqfuzz.run.jobs.measure_speed import measure_speed
from eqfuzz.run.jobs.read_structure import read_structure
from eqfuzz.run.jobs.run_seed import run_seed
from eqfuzz.run.jobs.session import Session
from eqfuzz.run.jobs.trace_program import trace_program
from eqfuzz.run.jobs.variant_jobs import run_accuracy, run_audit, run_bisect, run_compare, run_describe
from eqfuzz.run.messages.coverage_jobs import TraceJob
from eqfuzz.run.messages.export_jobs import ExportJob
from eqfuzz.run.messages.finding_jobs import AccuracyJob, AuditJob, BisectJob, CompareJob, DescribeJob
from eqfuzz.run.messages.job import Emit, Job, JobTarget, ProgramInvalid
from eqfuzz.run.messages.seed_jobs import ExplainJob, RuleExplained, RunJob, SeedValidated, ValidateJob
from eqfuzz.run.messages.speed_jobs import SpeedJob
from eqfuzz.run.messages.structure_jobs import StructureJob

for _rule in rules_for_children(()).values():  # parsed on import: once, in the process that children are forked from
    if not _rule.is_generator:
        equation_of(_rule)


def run_explain(job: ExplainJob, emit: Emit) -> None:
    """Report where the rule applies in the program, and why not elsewhere. Raises InvalidSeed."""
    session = Session(job, emit)
    syntax, facts = session.study(*session.valid())
    session.clock.enter("rewrite", 60)
    rule = rules_for_children(job.rules_from)[job.rule]
    emit(RuleExplained(rule=job.rule, explanation=explain(rule, job.program, syntax, facts)))


def run_validate(job: ValidateJob, emit: Emit) -> None:
    """Load the program and run it twice in eager. Raises InvalidSeed."""
    _, calls = Session(job, emit).valid()
    emit(SeedValidated(input_sets=len(calls)))


_FUNCTIONS: dict[type[Job[Any]], Callable[[Any, Emit], None]] = {
    RunJob: run_seed,
    SpeedJob: measure_speed,
    TraceJob: trace_program,
    ExplainJob: run_explain,
    ValidateJob: run_validate,
    StructureJob: read_structure,
    ExportJob: export_program,
    DescribeJob: run_describe,
    AuditJob: run_audit,
    CompareJob: run_compare,
    BisectJob: run_bisect,
    AccuracyJob: run_accuracy,
}


def run_program_job(job: Job[Any], emit: Emit) -> bool:
    """Run a job about a program. Returns whether that is valid; if not, it is reported."""
    try:
        _FUNCTIONS[type(job)](job, emit)
    except InvalidSeed as error:
        emit(ProgramInvalid(reason=error.reason, line=error.line))
        return False
    return True


TARGET = JobTarget(dict.fromkeys(_FUNCTIONS, run_program_job))
