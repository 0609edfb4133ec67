"""``eqfuzz audit``: find the operators that the compiler gets wrong in programs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from eqfuzz.cli.exit_codes import USAGE, code_of, complain
from eqfuzz.cli.exit_handling import exit_code_of_long_run
from eqfuzz.cli.loading_notice import loading_notice
from eqfuzz.cli.options.common import EventFormat, Jobs, OutputFormat, RandomSeed, SeedPaths
from eqfuzz.cli.options.compiling import ConfigsFrom, OneConfig
from eqfuzz.cli.options.values import BadOption, configs_of, job_count, value_of

if TYPE_CHECKING:
    from eqfuzz.commands.audit import FileAudit
    from eqfuzz.run.configs.named import Config


def audit(
    paths: SeedPaths,
    config: OneConfig = "inductor",
    configs_from: ConfigsFrom = None,
    seed: RandomSeed = 0,
    jobs: Jobs = None,
    format: EventFormat = OutputFormat.TEXT,
) -> None:
    """Judge each operator of a program by itself.

    Each program is compiled so that all intermediates are outputs. The result of each operator is compared with the
    exact one for the operands that the compiled program passed to it.

    Exit codes: 0 no suspect, 1 suspects, 2 usage or no valid seed, 3 internal error, 130 interrupted.
    """
    chosen = configs_of([config], configs_from)
    if len(chosen) != 1:
        raise BadOption("--config", "one configuration at a time")
    raise typer.Exit(
        exit_code_of_long_run(
            lambda: _audit(paths, chosen[0], seed, job_count(jobs), as_json=format is OutputFormat.JSON),
            stopped="the report is not complete",
        )
    )


def _audit(paths: list[Path], config: Config, seed: int, jobs: int, *, as_json: bool) -> int:
    with loading_notice():
        from eqfuzz.commands.audit import audit_files
    from eqfuzz.program.pools.seed_files import seed_files
    from eqfuzz.report.terminal import make_console
    from eqfuzz.report.verbs.audit import AuditLines, AuditReport
    from eqfuzz.run.jobs.variant_jobs import require_inductor

    report = AuditLines(sys.stdout) if as_json else AuditReport(make_console())
    outcomes: list[FileAudit] = []

    def handle(outcome: FileAudit) -> None:
        outcomes.append(outcome)
        report.handle(outcome)

    with value_of("--config"):
        require_inductor(config)
    interrupted = audit_files(seed_files(paths), handle, seed=seed, config=config, jobs=jobs)
    report.close()
    if not interrupted and all(outcome.audit is None for outcome in outcomes):
        complain(f"no program could be audited: {outcomes[0].path}: {outcomes[0].ended}")
        return USAGE
    suspects = any(outcome.audit is not None and outcome.audit.suspects for outcome in outcomes)
    return code_of(interrupted=interrupted, findings=suspects)
