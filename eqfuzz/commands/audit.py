"""Behind ``eqfuzz audit``: each program audited in a child of its own."""

from __future__ import annotations

import dataclasses
import tempfile
import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from eqfuzz.mutate.parallel import all_through
from eqfuzz.mutate.seed_run import InternalError
from eqfuzz.oracle.audit.local_audit import Audit
from eqfuzz.oracle.compare.verdict import Verdict
from eqfuzz.program.formats import read_program
from eqfuzz.program.program import InvalidSeed
from eqfuzz.run.configs.named import Config
from eqfuzz.run.environment import Environment
from eqfuzz.run.jobs.audit import TARGET
from eqfuzz.run.jobs.compiled_audit import require_inductor
from eqfuzz.run.limits import Limits
from eqfuzz.run.processes.exit_reasons import death_in_words
from eqfuzz.run.processes.pool import Pool


@dataclasses.dataclass(frozen=True)
class FileAudit:
    """What came of one file: ``verdict`` on its compiled run as a whole and the ``audit`` of it.

    ``ended`` says in words why one of them or both are missing: an invalid seed, a child that died.
    """

    path: Path
    verdict: Verdict | None = None
    audit: Audit | None = None
    ended: str = ""


def audit_files(
    paths: Sequence[Path], handler: Callable[[FileAudit], None], *, seed: int, config: Config, jobs: int
) -> bool:
    """Audit every program and hand each outcome to ``handler``, one at a time, in the order in which they end.

    Returns whether Ctrl-C ended it early. Raises ValueError for a configuration that cannot be audited, RunnerFailed
    when no process can be started, InternalError when one breaks down by eqfuzz's own fault.
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
            if not stop.is_set():  # what comes after Ctrl-C was cut off
                handler(outcome)

    with (
        tempfile.TemporaryDirectory(prefix="eqfuzz-audit-") as folder,
        Pool(Environment(Path(folder)), limits, jobs=jobs, target=TARGET) as pool,
    ):
        return all_through(pool, (partial(run, path) for path in paths), stop, jobs=jobs)


def _audited(pool: Pool, path: Path, seed: int, config: Config, limits: Limits) -> FileAudit:
    try:
        program = read_program(path, str(path))
    except InvalidSeed as error:
        return FileAudit(path, ended=error.reason)
    case = {
        "program": program.to_json(),
        "seed": seed,
        "config": config.model_dump(),
        "load_seconds": limits.load_s,
        "eager_seconds": limits.eager_s,
        "compile_seconds": limits.compile_s,
    }
    outcome = FileAudit(path)
    stage = "start"
    for event in pool.run(case):
        match event["event"]:
            case "restart":
                outcome = FileAudit(path)
            case "stage":
                stage = event["stage"]
            case "invalid":
                outcome = FileAudit(path, ended=event["reason"])
            case "judged":
                outcome = dataclasses.replace(outcome, verdict=Verdict.from_json(event["verdict"]))
            case "audited":
                outcome = dataclasses.replace(outcome, audit=Audit.from_json(event["audit"]))
            case "exit" if event["reason"] == "error" and not program.untrusted:
                raise InternalError(f"{path}: {event['detail']}", event["output"])
            case "exit" if event["reason"] != "done":
                outcome = dataclasses.replace(outcome, ended=death_in_words(stage, event["reason"], event["detail"]))
    return outcome
