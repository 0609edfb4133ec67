"""The job ``trace``: which lines of torch a seed and its variants run, in eager and compiled."""

from __future__ import annotations

import contextlib
from collections.abc import Generator

from eqfuzz.oracle.observe.observer import observe
from eqfuzz.run.coverage.line_coverage import traced_lines
from eqfuzz.run.devices import observe_on
from eqfuzz.run.jobs.cell_judge import CellJudge
from eqfuzz.run.jobs.loaded_program import LoadedVariant
from eqfuzz.run.jobs.run_seed import derive_variants
from eqfuzz.run.jobs.session import Session, record_of
from eqfuzz.run.jobs.several_threads import several_threads
from eqfuzz.run.messages.coverage_jobs import ProgramTraced, TraceJob
from eqfuzz.run.messages.job import Emit
from eqfuzz.run.messages.seed_jobs import LinesTraced, ProgramRewritten, RunJob
from eqfuzz.torch_internals.dynamo import forget_compiled_code


def trace_program(job: TraceJob, emit: Emit) -> None:
    """Load the seed, run it in eager and compiled, with further calls; then its variants. Raises InvalidSeed.

    What eqfuzz does to rewrite and to judge is not traced.
    """
    run, config = job.run, job.run.configs[0]
    session: Session[RunJob] = Session(run, emit)
    with _lines(emit):
        start, calls = session.valid()

    def compile(subject: LoadedVariant) -> None:
        session.clock.enter("compile", run.limits.compile_s, subject.number, "cpu", config.name)
        forget_compiled_code()
        with several_threads(config.threads), config.patched(), _lines(emit):
            observe_on(subject.loaded.instance, subject.calls, "cpu", config.compile)

    variants = derive_variants(session, start, calls)[1] if run.strategy != "none" else []
    emit(ProgramRewritten(sites=0, cells=1 + len(variants), variants=tuple(map(record_of, variants))))
    judge = CellJudge(run, session.clock, start)
    session.take_steps(start, calls, run.steps)
    compile(start)
    traced = 0
    for number, variant in enumerate(variants, 1):
        subject = session.judge_variant(number, variant, judge, calls)
        if subject is not None:
            session.clock.enter("eager", run.limits.eager_s, number)
            with _lines(emit):
                observe(subject.loaded.instance, calls)
            compile(subject)
            traced += 1
    emit(ProgramTraced(variants=traced))


@contextlib.contextmanager
def _lines(emit: Emit) -> Generator[None]:
    """Report the lines of torch that run in this context, also where it raises."""
    lines: dict[str, str] = {}
    try:
        with traced_lines(lines, whole=True):
            yield
    finally:
        emit(LinesTraced(files=lines))
