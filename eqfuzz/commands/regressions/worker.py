"""One run over seeds in the interpreter that runs this module: ``python -m eqfuzz.commands.regressions.worker``.

Reads a ``WorkerJob`` from stdin, and prints an event per line as JSON. Ctrl-C ends it with a summary.
"""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path
from typing import Any

import pydantic

from eqfuzz.errors import UsageError
from eqfuzz.events.event import Event
from eqfuzz.mutate.run import run
from eqfuzz.mutate.settings import CompileSettings, DeviceName, OracleSettings, RewriteSettings, Settings
from eqfuzz.run.configs.named import Config


class WorkerJob(pydantic.BaseModel):
    """What a worker is to do, as it travels between two releases of Python and torch."""

    out: Path
    """Folder of the run."""
    paths: list[Path]
    """Seed files."""
    seed: int
    """The random seed."""
    jobs: int
    """Seeds run at once."""
    time: float | None
    """Wall seconds after which it ends."""
    timeout: float
    """Wall seconds of one compiled cell."""
    configs: list[dict[str, Any]]
    """The compile configurations."""
    devices: list[DeviceName]
    """Where it compiles."""
    checks: list[str]
    """Names of the checks."""
    untrusted: bool = False
    """Whether all seeds run in the sandbox."""
    traced: bool = False
    """Whether the executed lines of the compiler are reported."""

    def settings(self) -> Settings:
        """Each seed as it is, without known issues: which findings are new is decided by both runs."""
        return Settings(
            out=self.out,
            paths=tuple(self.paths),
            seed=self.seed,
            jobs=self.jobs,
            time=self.time,
            rewriting=RewriteSettings(strategy="none", variants=0),
            compiling=CompileSettings(timeout=self.timeout, devices=tuple(self.devices)),
            judging=OracleSettings(),
            configs=tuple(Config.model_validate(config) for config in self.configs),
            checks=tuple(self.checks),
            known_issues=(),
            untrusted=self.untrusted,
            traced=self.traced,
        )


def write_event(event: Event) -> None:
    """One line on stdout."""
    sys.stdout.write(json.dumps(event.to_json(), default=str) + "\n")
    sys.stdout.flush()


def main() -> int:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        run(WorkerJob.model_validate_json(sys.stdin.read()).settings(), write_event)
    except UsageError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
