"""Check of ``eqfuzz seeds check``: each seed is read, loaded and run twice in eager, in a child of its own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from eqfuzz.commands.seeds.each_seed import answer_of, each_seed
from eqfuzz.events.event import Handler
from eqfuzz.events.seeds import SeedChecked, SeedsSummary
from eqfuzz.run.messages.seed_jobs import ValidateJob
from eqfuzz.run.processes.pool import Pool


def check_seeds(paths: Sequence[Path], handler: Handler, *, seed: int, jobs: int, unsafe: bool = False) -> SeedsSummary:
    """Check the seeds and hand every event to ``handler``, one at a time; the last one is returned.

    Ctrl-C ends it early. Raises RunnerFailed when no process can be started.
    """

    def checked(index: int, path: Path, pool: Pool) -> SeedChecked:
        format, answer = answer_of(path, lambda program: ValidateJob(program=program, seed=seed), pool)
        if isinstance(answer, str):
            return SeedChecked(index=index, path=str(path), format=str(format or ""), problem=answer)
        return SeedChecked(index=index, path=str(path), format=str(format), input_sets=answer.input_sets)

    summary = each_seed(paths, handler, checked, jobs=jobs, unsafe=unsafe)
    handler(summary)
    return summary
