"""Audits of ``eqfuzz audit``: each program in its own child."""

from __future__ import annotations

import dataclasses
import tempfile
import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from eqfuzz.mutate.parallel import Ending, run_all
from eqfuzz.mutate.seed_run import InternalError
from eqfuzz.oracle.audit.suspect import Audit
from eqfuzz.oracle.compare.checks import ORACLES
from eqfuzz.oracle.compare.verdict import Verdict
from eqfuzz.program.formats import read_program
from eqfuzz.program.program import InvalidSeed
from eqfuzz.run.configs.named import Config
from eqfuzz.run.environment import Environment
from eqfuzz.run.jobs.variant_jobs import require_inductor
from eqfuzz.run.limits import Limits
from eqfuzz.run.messages.finding_jobs import AuditJob, CompiledRunJudged, OperatorsAudited
from eqfuzz.run.messages.job import ChildExit, JobRestarted, ProgramInvalid, StageEntered
from eqfuzz.run.processes.exit_reasons import death_in_words
from eqfuzz.run.processes.pool import Pool


@dataclasses.dataclass(frozen=True)
class FileAudit:
    """Result of one file."""

    path: Path
    verdict: Verdict | None = None
    """Verdict on the whole compiled run."""
    audit: Audit | None = None
    """Audit of its operators."""
    ended: str = ""
    """Why a verdict or audit is missing: an invalid seed, a crashed child."""


def audit_files(
    paths: Sequence[Path], handler: Callable[[FileAudit], None], *, seed: int, config: Config, jobs: int
) -> bool:
    """Audit every program and hand each result to ``handler``, one at a time, in order of completion.

    Returns whether Ctrl-C ended it early. Raises ValueError for a configuration that cannot be audited, RunnerFailed
    when no process can be started, InternalError when one fails by a defect of eqfuzz.
    """
    require_inductor(config)
    jobs = max(1, min(jobs, len(paths)))
    limits = Limits()
    lock, stop = threading.Lock(), threading.Event()

    def run(path: Path) -> None:
        if stop.is_set():
            return
        outcome = _audited(pool, path, seed, config, limits)
        with lock:
            if not stop.is_set():  # results after Ctrl-C are of interrupted jobs
                handler(outcome)

    with (
        tempfile.TemporaryDirectory(prefix="eqfuzz-audit-") as folder,
        Pool(Environment(Path(folder)), limits, jobs=jobs) as pool,
    ):
        return run_all(pool, (partial(run, path) for path in paths), stop, jobs=jobs) is Ending.INTERRUPTED


def _audited(pool: Pool, path: Path, seed: int, config: Config, limits: Limits) -> FileAudit:
    try:
        program = read_program(path, str(path))
    except InvalidSeed as error:
        return FileAudit(path, ended=error.reason)
    job = AuditJob(program=program, seed=seed, limits=limits, configs=(config,), checks=ORACLES, steps=0, whole=True)
    outcome = FileAudit(path)
    stage = "start"
    for event in pool.stream(job):
        match event:
            case JobRestarted():
                outcome = FileAudit(path)
            case StageEntered():
                stage = event.stage
            case ProgramInvalid():
                outcome = FileAudit(path, ended=event.reason)
            case CompiledRunJudged():
                outcome = dataclasses.replace(outcome, verdict=event.verdict)
            case OperatorsAudited():
                outcome = dataclasses.replace(outcome, audit=event.audit)
            case ChildExit() if event.reason == "error" and not program.untrusted:
                raise InternalError(f"{path}: {event.detail}", event.output)
            case ChildExit() if event.reason != "done":
                outcome = dataclasses.replace(outcome, ended=death_in_words(stage, event.reason, event.detail))
            case _:
                pass
    return outcome
