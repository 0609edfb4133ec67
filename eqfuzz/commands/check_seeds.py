"""Check of ``eqfuzz seeds check``: each seed is read, loaded and run twice in eager, in a child of its own."""

from __future__ import annotations

import dataclasses
import tempfile
import threading
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from eqfuzz.events.event import Handler
from eqfuzz.events.seeds import SeedChecked, SeedsStarted, SeedsSummary, SeedTakenUp
from eqfuzz.mutate.parallel import Ending, run_all
from eqfuzz.program.formats import read_program
from eqfuzz.program.program import InvalidSeed
from eqfuzz.run.environment import Environment
from eqfuzz.run.limits import Limits
from eqfuzz.run.messages.seed_jobs import ValidateJob
from eqfuzz.run.processes.exit_reasons import death_in_words
from eqfuzz.run.processes.pool import Pool


def check_seeds(paths: Sequence[Path], handler: Handler, *, seed: int, jobs: int, unsafe: bool = False) -> SeedsSummary:
    """Check the seeds and hand every event to ``handler``, one at a time; the last one is returned.

    Ctrl-C ends it early. Raises RunnerFailed when no process can be started.
    """
    began = time.monotonic()
    lock, stop = threading.Lock(), threading.Event()
    failed: list[str] = []
    done = 0

    def run(index: int, path: Path) -> None:
        nonlocal done
        with lock:
            if stop.is_set():
                return
            handler(SeedTakenUp(index=index, path=str(path)))
        event = _checked(index, path, pool, seed)
        with lock:
            if not stop.is_set():  # results after Ctrl-C are of interrupted jobs
                done += 1
                failed.extend([str(path)] if event.problem else [])
                handler(event)

    handler(SeedsStarted(count=len(paths)))
    jobs = max(1, min(jobs, len(paths)))
    with (
        tempfile.TemporaryDirectory(prefix="eqfuzz-check-") as folder,
        Pool(Environment(Path(folder), unsafe=unsafe), Limits(), jobs=jobs, warm=False) as pool,
    ):
        calls = (partial(run, index, path) for index, path in enumerate(paths))
        interrupted = run_all(pool, calls, stop, jobs=jobs) is Ending.INTERRUPTED
    seconds = round(time.monotonic() - began, 3)
    summary = SeedsSummary(done=done, failed=sorted(failed), interrupted=interrupted, seconds=seconds)
    handler(summary)
    return summary


def _checked(index: int, path: Path, pool: Pool, seed: int) -> SeedChecked:
    try:
        program = read_program(path, str(path))
    except InvalidSeed as error:
        return SeedChecked(index=index, path=str(path), problem=_at(error.line, error.reason))
    reply = pool.ask(ValidateJob(program=program, seed=seed))
    event = SeedChecked(index=index, path=str(path), format=str(program.format))
    if reply.invalid is not None:
        return dataclasses.replace(event, problem=_at(reply.invalid.line, reply.invalid.reason))
    if reply.answer is None:
        problem = death_in_words(reply.stage, reply.exit.reason, reply.exit.detail)
        return dataclasses.replace(event, problem=problem)
    return dataclasses.replace(event, input_sets=reply.answer.input_sets)


def _at(line: int | None, reason: str) -> str:
    return f"line {line}: {reason}" if line else reason
