"""``eqfuzz audit``: which operators does the compiler get wrong in these programs?"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eqfuzz.cli.exit_codes import CLEAN, FINDINGS, INTERNAL, INTERRUPTED, USAGE, complain
from eqfuzz.cli.exit_handling import ended
from eqfuzz.cli.options import BadOption, OutputFormat, configs_of

if TYPE_CHECKING:
    from eqfuzz.commands.audit import FileAudit
    from eqfuzz.run.configs.named import Config


def audit(
    paths: Annotated[list[Path], typer.Argument(metavar="PATHS...", help="Seed files and folders of seed files.")],
    config: Annotated[
        str, typer.Option(metavar="NAME", help="Compile configuration; one that compiles with Inductor.")
    ] = "inductor",
    configs_from: Annotated[
        Path | None, typer.Option(metavar="FILE", help="TOML file with more configurations ([configs.NAME] tables).")
    ] = None,
    seed: Annotated[int, typer.Option(help="Decides the seed's inputs, as in mutate.")] = 0,
    jobs: Annotated[int | None, typer.Option(min=1, help="Files audited at once (default: one per core).")] = None,
    format: Annotated[
        OutputFormat, typer.Option(help="json: one file per line, the summary last.")
    ] = OutputFormat.TEXT,
) -> None:
    """Judge every operator of compiled programs on its own, and name those that are wrong.

    Each program is compiled so that all intermediates are outputs, and each operator's result is compared with the
    exact one for the very operands that the compiled program gave it.

    Exit codes: 0 no suspect, 1 suspects, 2 usage or no valid seed, 3 internal error, 130 interrupted.
    """
    try:
        chosen = configs_of([config], configs_from)
    except BadOption as error:
        complain(str(error))
        raise typer.Exit(USAGE) from None
    if len(chosen) != 1:
        complain("--config: one configuration at a time")
        raise typer.Exit(USAGE)
    workers = jobs or len(os.sched_getaffinity(0))
    raise typer.Exit(
        ended(
            lambda: _audit(paths, chosen[0], seed, workers, as_json=format is OutputFormat.JSON),
            stopped="not all was told",
        )
    )


def _audit(paths: list[Path], config: Config, seed: int, jobs: int, *, as_json: bool) -> int:
    from eqfuzz.commands.audit import audit_files
    from eqfuzz.errors import UsageError
    from eqfuzz.mutate.run import seed_files
    from eqfuzz.mutate.seed_run import InternalError
    from eqfuzz.report.run.console import make_console
    from eqfuzz.report.verbs.audit import AuditLines, AuditReport
    from eqfuzz.run.jobs.compiled_audit import require_inductor
    from eqfuzz.run.protocol import RunnerFailed

    report = AuditLines(sys.stdout) if as_json else AuditReport(make_console())
    outcomes: list[FileAudit] = []

    def handle(audited: FileAudit) -> None:
        outcomes.append(audited)
        report.handle(audited)

    try:
        require_inductor(config)
    except ValueError as error:
        complain(f"--config: {error}")
        return USAGE
    try:
        interrupted = audit_files(seed_files(paths), handle, seed=seed, config=config, jobs=jobs)
    except UsageError as error:
        complain(str(error))
        return USAGE
    except RunnerFailed as error:
        complain(f"no process that runs programs could be started: {error}; `eqfuzz doctor` tells what is missing")
        return USAGE
    except InternalError as error:
        complain(f"internal error: {error}")
        return INTERNAL
    report.close()
    if interrupted:
        complain("interrupted")
        return INTERRUPTED
    if any(outcome.audit is not None and outcome.audit.suspects for outcome in outcomes):
        return FINDINGS
    if all(outcome.audit is None for outcome in outcomes):
        complain(f"no program could be audited: {outcomes[0].path}: {outcomes[0].ended}")
        return USAGE
    return CLEAN
