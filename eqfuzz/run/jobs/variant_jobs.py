"""Jobs about one variant, mostly a finding's: described, audited, compared, bisected, checked as PyTorch does it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from eqfuzz.oracle.audit.local_audit import audit
from eqfuzz.oracle.audit.suspect import Audit
from eqfuzz.oracle.calibration.baseline_oracles import own_checks
from eqfuzz.oracle.compare.verdict import Verdict
from eqfuzz.oracle.observe.observer import observe
from eqfuzz.oracle.thresholds import THRESHOLDS
from eqfuzz.program.call import Call
from eqfuzz.program.load import Loaded
from eqfuzz.program.program import InvalidSeed
from eqfuzz.rewrite.derivation import CannotRewrite, Variant, original, rederive
from eqfuzz.rewrite.rules.user_rules import rules_for_children
from eqfuzz.run.configs.named import Config
from eqfuzz.run.devices import observe_on
from eqfuzz.run.jobs.border_search import AOT, INDUCTOR, PARTITIONER, faulty_decomposition, first_wrong, has_borders
from eqfuzz.run.jobs.cell_judge import CellJudge
from eqfuzz.run.jobs.describe import describe
from eqfuzz.run.jobs.loaded_program import LoadedVariant
from eqfuzz.run.jobs.session import Session, in_words, record_of, study_again
from eqfuzz.run.jobs.several_threads import several_threads
from eqfuzz.run.messages.finding_jobs import (
    AccuracyChecked,
    AccuracyJob,
    AuditJob,
    BisectJob,
    BisectorResult,
    CompareJob,
    CompiledRunJudged,
    DescribeJob,
    FaultBisected,
    OperatorsAudited,
    VariantJob,
    VariantRederived,
)
from eqfuzz.run.messages.job import Emit
from eqfuzz.torch_internals.bisector import bisected
from eqfuzz.torch_internals.graph_passes import PASSES, change_of
from eqfuzz.torch_internals.inductor import decomposed_in, without_decompositions
from eqfuzz.torch_internals.operators import OpOverload

_AUDIT_COMPILES = 4
"""How many times the seconds of one compilation an audit may take."""


def run_describe(job: DescribeJob, emit: Emit) -> None:
    """Report the calls and, for small modules, the state as Python source. Raises InvalidSeed, like all jobs here."""
    subject = _subject(Session(job, emit))
    emit(describe(subject.loaded, subject.calls, job.device))


def run_audit(job: AuditJob, emit: Emit) -> None:
    """Report which operators are wrong by themselves, and first what the compiled run does as a whole, if requested."""
    session: Session[VariantJob[Any]] = Session(job, emit)
    subject = _subject(session)
    config = job.configs[0]
    if job.whole:
        session.require_completed(subject.eager)
        report = CellJudge(job, session.clock, subject).cell(subject, job.device, config)
        emit(CompiledRunJudged(verdict=report.verdict))
    session.clock.enter("audit", _AUDIT_COMPILES * job.limits.compile_s, 0, job.device, config.name)
    is_inductor = config.backend == "inductor"
    emit(OperatorsAudited(audit=audit_calls(subject.loaded, subject.calls, job.seed, config) if is_inductor else None))


def run_compare(job: CompareJob, emit: Emit) -> None:
    """Report the variant's cells, judged in this process."""
    session: Session[VariantJob[Any]] = Session(job, emit)
    subject = _subject(session)
    judge = CellJudge(job, session.clock, subject)
    for config in job.configs:
        emit(judge.cell(subject, job.device, config))


def run_bisect(job: BisectJob, emit: Emit) -> None:
    """Report what torch's bisector finds behind the verdict."""
    session: Session[VariantJob[Any]] = Session(job, emit)
    subject = _subject(session)
    judge = CellJudge(job, session.clock, subject)
    verdict = judge.cell(subject, job.device, job.configs[0]).verdict

    def is_right() -> bool:
        return judge.cell(subject, job.device, job.configs[0]).verdict.kind is not verdict.kind

    if verdict.is_about_values and job.device == "cpu" and has_borders(job.configs[0]):
        at_border = _first_wrong(judge, subject, job.configs[0], is_right)
        if at_border is not None:
            emit(FaultBisected(verdict=verdict, result=at_border))
            return
    result, problem = None, ""
    try:
        answer = bisected(is_right) if verdict.is_finding else None
        if answer is not None:
            detail = answer["debug_info"]
            change = change_of(detail, is_right) if answer["subsystem"] in PASSES and detail else ""
            result = BisectorResult(
                backend=answer["backend"],
                subsystem=answer["subsystem"],
                bisect_number=answer["bisect_number"],
                debug_info=detail,
                change=change,
            )
    except RuntimeError as error:
        problem = in_words(error)
    emit(FaultBisected(verdict=verdict, result=result, problem=problem))


def _first_wrong(
    judge: CellJudge, subject: LoadedVariant, config: Config, is_right: Callable[[], bool]
) -> BisectorResult | None:
    """The component before the first wrong graph of the compiler; None where only the code is wrong."""
    with judge.at_borders(subject, config) as (borders, judged):
        judged()
        first = first_wrong(borders, lambda: _is_wrong(judged()))
    if first.backend == AOT:
        operators = decomposed_in(lambda: observe(subject.loaded.instance, subject.calls))

        def is_right_without(some: Sequence[OpOverload]) -> bool:
            with without_decompositions(some), judge.at_borders(subject, config, code=False) as (_, judged):
                return not _is_wrong(judged())

        operator = faulty_decomposition(operators, is_right_without)
        if operator is not None:
            return BisectorResult(backend=PARTITIONER, subsystem="decomposition", debug_info=repr(operator))
    if first.part is not None:
        change = change_of(first.after, is_right) if first.after else ""
        return BisectorResult(
            backend=first.backend, subsystem=first.part.subsystem, debug_info=first.after or None, change=change
        )
    return None if first.backend == INDUCTOR else BisectorResult(backend=first.backend)


def _is_wrong(verdict: Verdict) -> bool:
    return verdict.is_finding and verdict.is_about_values


def run_accuracy(job: AccuracyJob, emit: Emit) -> None:
    """Report by path whether PyTorch's accuracy checks pass the tensors of the last call."""
    session: Session[VariantJob[Any]] = Session(job, emit)
    subject = _subject(session)
    config = job.configs[0]
    session.clock.enter("compile", 2 * job.limits.compile_s, 0, job.device, config.name)
    with several_threads(config.threads):
        eager = observe_on(subject.loaded.instance, subject.calls, job.device)
        with config.patched():
            compiled = observe_on(subject.loaded.instance, subject.calls, job.device, config.compile)
        reference = subject.reference(THRESHOLDS.samples[0], job.seed)
    last = len(subject.calls) - 1
    emit(
        AccuracyChecked(
            results=own_checks(
                eager.calls[last], compiled.calls[last], reference.calls[last] if reference.calls else None
            )
        )
    )


def require_inductor(config: Config) -> None:
    """Raises ValueError where ``config`` compiles with another backend than Inductor."""
    if config.backend != "inductor":
        raise ValueError(
            f"only what Inductor compiles can be audited, and {config.name} compiles with {config.backend}"
        )


def audit_calls(loaded: Loaded, calls: Sequence[Call], seed: int, config: Config) -> Audit:
    """The local audit of a loaded program on these calls. Raises ValueError like ``require_inductor``."""
    require_inductor(config)
    with several_threads(config.threads), config.patched():
        return audit(
            loaded.instance,
            calls,
            mode=config.mode,
            options=config.options,
            dynamic=config.dynamic,
            fullgraph=config.fullgraph,
            seed=seed,
        )


def _subject(session: Session[Any]) -> LoadedVariant:
    """The variant that the job is about, with its calls, as its cells were called.

    Raises InvalidSeed where it cannot be derived again from its steps, or does not equal the program then.
    """
    job: VariantJob[Any] = session.job
    start, calls = session.accepted()
    session.take_steps(start, calls, job.steps)
    subject = start
    if job.steps_taken:
        judge = CellJudge(job, session.clock, start)
        equal = session.judge_variant(1, _rederived(session, start, calls), judge, calls)
        if equal is None:
            raise InvalidSeed(job.program.name, "the rederived variant differs from the original in eager")
        subject = equal
    elif job.transformed:
        program = job.program.with_source(job.transformed)
        loaded = Loaded(program)
        subject = LoadedVariant(1, original(program), loaded, calls, observe(loaded.instance, calls))
    if subject is not start:
        session.append_steps(subject)
    subject.limit(job.calls)
    return subject


def _rederived(session: Session[Any], start: LoadedVariant, calls: Sequence[Call]) -> Variant:
    """Derive the variant again by the steps of the job, and report it."""
    job: VariantJob[Any] = session.job
    session.clock.enter("rewrite", 60 + len(job.steps_taken) * job.limits.eager_s)
    study = partial(study_again, calls)
    try:
        variant = rederive(start.variant, study, rules_for_children(job.rules_from), job.steps_taken)
    except CannotRewrite as error:
        raise InvalidSeed(job.program.name, str(error)) from error
    session.emit(VariantRederived(variant=record_of(variant)))
    return variant
