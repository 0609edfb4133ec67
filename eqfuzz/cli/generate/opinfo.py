"""``eqfuzz generate opinfo``: PyTorch's own catalogue of operators and samples as seed programs."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import typer

from eqfuzz.cli import logs
from eqfuzz.cli.exit_codes import code_of
from eqfuzz.cli.exit_handling import exit_code_of_long_run
from eqfuzz.cli.options.common import (
    OUT,
    EventFormat,
    Jobs,
    LogLevel,
    LogLevelOption,
    Out,
    OutputFormat,
    Quiet,
    RandomSeed,
)
from eqfuzz.cli.options.generating import CatalogueDtypes, CatalogueOperators
from eqfuzz.cli.options.values import job_count, split_names

if TYPE_CHECKING:
    from eqfuzz.commands.read_opinfo import CatalogueRequest


def opinfo(
    operators: CatalogueOperators = None,
    dtypes: CatalogueDtypes = None,
    seed: RandomSeed = 0,
    jobs: Jobs = None,
    out: Out = OUT,
    format: EventFormat = OutputFormat.TEXT,
    quiet: Quiet = False,
    log_level: LogLevelOption = LogLevel.WARNING,
) -> None:
    """Write PyTorch's OpInfo samples as seeds.

    Every sample of every operator, for each dtype that eager supports, is a result of a program in DIR/programs, with
    new values of its domain in layouts drawn at random. The same random seed, torch and version give the same programs.
    What was read is kept in DIR/samples.jsonl: the same command resumes.

    Exit codes: 0 written, 2 usage or bad input, 3 internal error, 130 interrupted.
    """
    logs.start(log_level)
    from eqfuzz.commands.read_opinfo import CatalogueRequest

    request = CatalogueRequest(
        out=out,
        operators=tuple(split_names(operators)),
        dtypes=tuple(split_names(dtypes)),
        seed=seed,
        jobs=job_count(jobs),
    )
    raise typer.Exit(
        exit_code_of_long_run(
            lambda: _write(request, as_json=format is OutputFormat.JSON, quiet=quiet),
            stopped=f"what was read is in {out}",
            errors_in=out,
        )
    )


def _write(request: CatalogueRequest, *, as_json: bool, quiet: bool) -> int:
    from eqfuzz.commands.read_opinfo import write_catalogue
    from eqfuzz.report.generate.opinfo import CatalogueReport
    from eqfuzz.report.machine.json_lines import JsonLines
    from eqfuzz.report.terminal import make_console

    report = JsonLines(sys.stdout) if as_json else CatalogueReport(make_console(), quiet=quiet)
    with report:
        summary = write_catalogue(request, report.handle)
    if isinstance(report, CatalogueReport):
        report.close()
    return code_of(interrupted=summary.interrupted, findings=False)
