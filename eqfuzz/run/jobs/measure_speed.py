"""The job ``speed``: a seed and its variants timed in eager and compiled, in turn and in one process."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

from eqfuzz.oracle.compare.speed import judge_speed, take_samples
from eqfuzz.run.jobs.cell_judge import CellJudge
from eqfuzz.run.jobs.loaded_program import LoadedVariant
from eqfuzz.run.jobs.run_seed import derive_variants
from eqfuzz.run.jobs.session import Session, in_words, record_of
from eqfuzz.run.jobs.several_threads import several_threads
from eqfuzz.run.messages.job import Emit
from eqfuzz.run.messages.seed_jobs import ProgramRewritten, RunJob
from eqfuzz.run.messages.speed_jobs import ProgramNotTimed, ProgramTimes, SpeedJob, SpeedMeasured
from eqfuzz.torch_internals.dynamo import forget_compiled_code

_BLOCKS = 16
"""Calls of each program that cannot be left out, however slow one is."""

_LONGEST = 1500.0
"""Seconds for timing, at most."""


def measure_speed(job: SpeedJob, emit: Emit) -> None:
    """Rewrite the seed, compile all variants that equal it in eager, time all, and report. Raises InvalidSeed."""
    run, config = job.run, job.run.configs[0]
    session: Session[RunJob] = Session(run, emit)
    start, calls = session.valid()
    sites, variants = derive_variants(session, start, calls) if run.strategy != "none" else ([], [])
    cells = 1 + len(variants)
    emit(ProgramRewritten(sites=len(sites), cells=cells, variants=tuple(map(record_of, variants))))
    judge = CellJudge(run, session.clock, start)
    subjects = [start]
    for number, variant in enumerate(variants, 1):
        subject = session.judge_variant(number, variant, judge, calls)
        if subject is not None:
            subjects.append(subject)

    def compiled(subject: LoadedVariant) -> Callable[[], object] | None:
        session.clock.enter("compile", run.limits.compile_s, subject.number, "cpu", config.name)
        try:
            return subject.repeated_call(config.compile)
        except Exception as error:  # a failure of the compiler, or of eager again: `eqfuzz mutate` judges it
            emit(ProgramNotTimed(variant=subject.number, problem=in_words(error)))
            return None

    forget_compiled_code()
    with several_threads(config.threads), config.patched(), contextlib.redirect_stdout(None):
        ready = [(subject, function) for subject in subjects if (function := compiled(subject)) is not None]
        if not ready or ready[0][0] is not start:
            return  # there is nothing to compare with
        session.clock.enter("eager", 4 * len(ready) * run.limits.eager_s)
        functions = [subject.repeated_call() for subject, _ in ready] + [function for _, function in ready]
        at_least = _BLOCKS * len(functions) * run.limits.eager_s
        session.clock.enter("speed", min(10 * job.seconds + at_least, _LONGEST), 0, "cpu", config.name)
        samples = take_samples(functions, seconds=job.seconds)
        count = len(ready)
        programs = [
            ProgramTimes(
                variant=subject.number,
                eager=samples.seconds(i),
                compiled=samples.seconds(count + i),
                eager_ratio=samples.ratio(0, i),
                compiled_ratio=samples.ratio(count, count + i),
                slow=judge_speed(functions[count], function, earlier=samples.timing(count, count + i)) if i else None,
            )
            for i, (subject, function) in enumerate(ready)
        ]
    emit(SpeedMeasured(programs=tuple(programs), rounds=len(samples.rounds)))
