"""One job for each seed, in a child of its own: what ``eqfuzz seeds check`` and ``seeds select`` have in common."""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

from eqfuzz.events.event import Handler
from eqfuzz.events.seeds import SeedChecked, SeedsStarted, SeedsSummary, SeedStructureRead, SeedTakenUp
from eqfuzz.mutate.parallel import Ending, run_all
from eqfuzz.program.formats import read_program
from eqfuzz.program.program import InvalidSeed, Program, SeedFormat
from eqfuzz.run.environment import Environment
from eqfuzz.run.limits import Limits
from eqfuzz.run.messages.job import ChildEvent
from eqfuzz.run.messages.seed_jobs import ProgramJob
from eqfuzz.run.processes.exit_reasons import death_in_words
from eqfuzz.run.processes.pool import Pool

A = TypeVar("A", bound=ChildEvent)
SeedEvent = SeedChecked | SeedStructureRead


def each_seed(
    paths: Sequence[Path],
    handler: Handler,
    run: Callable[[int, Path, Pool], SeedEvent],
    *,
    jobs: int,
    unsafe: bool = False,
) -> SeedsSummary:
    """Hand what ``run`` returns for each seed to ``handler``, one at a time, between the first and last event.

    Returns the last event, which is not handed on. Ctrl-C ends it early. Raises RunnerFailed when no process can be
    started.
    """
    began = time.monotonic()
    lock, stop = threading.Lock(), threading.Event()
    failed: list[str] = []
    done = 0

    def run_one(index: int, path: Path) -> None:
        nonlocal done
        with lock:
            if stop.is_set():
                return
            handler(SeedTakenUp(index=index, path=str(path)))
        event = run(index, path, pool)
        with lock:
            if not stop.is_set():  # results after Ctrl-C are of interrupted jobs
                done += 1
                failed.extend([str(path)] if event.problem else [])
                handler(event)

    handler(SeedsStarted(count=len(paths)))
    jobs = max(1, min(jobs, len(paths)))
    with (
        tempfile.TemporaryDirectory(prefix="eqfuzz-seeds-") as folder,
        Pool(Environment(Path(folder), unsafe=unsafe), Limits(), jobs=jobs, warm=False) as pool,
    ):
        calls = (partial(run_one, index, path) for index, path in enumerate(paths))
        interrupted = run_all(pool, calls, stop, jobs=jobs) is Ending.INTERRUPTED
    seconds = round(time.monotonic() - began, 3)
    return SeedsSummary(done=done, failed=sorted(failed), interrupted=interrupted, seconds=seconds)


def answer_of(path: Path, job: Callable[[Program], ProgramJob[A]], pool: Pool) -> tuple[SeedFormat | None, A | str]:
    """The format of a seed and the answer to a job about it; in place of the answer, why it is no seed."""
    try:
        program = read_program(path, str(path))
    except InvalidSeed as error:
        return None, _at(error.line, error.reason)
    reply = pool.ask(job(program))
    if reply.invalid is not None:
        return program.format, _at(reply.invalid.line, reply.invalid.reason)
    if reply.answer is None:
        return program.format, death_in_words(reply.stage, reply.exit.reason, reply.exit.detail)
    return program.format, reply.answer


def answer_alone(path: Path, job: Callable[[Program], ProgramJob[A]], environment: Environment) -> A | str:
    """The answer to a job about a seed, from a pool of its own; in place of the answer, why it is no seed."""
    with Pool(environment, Limits(), jobs=1, warm=False) as pool:
        return answer_of(path, job, pool)[1]


def _at(line: int | None, reason: str) -> str:
    return f"line {line}: {reason}" if line else reason
