"""``eqfuzz record``: the models that a script calls, with their inputs."""

from __future__ import annotations

import dataclasses
import json
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eqfuzz.cli.exit_codes import CLEAN, INTERRUPTED, USAGE, complain
from eqfuzz.cli.exit_handling import exit_code_of_long_run
from eqfuzz.cli.options.common import ObjectFormat, OutputFormat, Quiet
from eqfuzz.cli.options.values import split_names

if TYPE_CHECKING:
    from eqfuzz.commands.models.record_calls import RecordedRun

OUT = Path("eqfuzz-recordings")
_MEGABYTE = 2**20

Command = Annotated[
    list[str], typer.Argument(metavar="COMMAND", help="What to run, after --: python train.py --epochs 1.")
]
Chosen = Annotated[
    list[str] | None,
    typer.Option(
        "--module",
        metavar="NAME",
        help="Class or function to record, Name or package.module:Name; comma lists (default: what torch.compile gets, "
        "else the outermost modules).",
    ),
]
Calls = Annotated[
    int, typer.Option("--calls", min=1, max=20, help="Calls of each model to record, all with different shapes.")
]
Limit = Annotated[int, typer.Option("--limit", metavar="MB", min=1, help="Largest recording of one model.")]
RecordingFolder = Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder for the recordings.")]


def record(
    command: Command,
    module: Chosen = None,
    calls: Calls = 2,
    limit: Limit = 1024,
    out: RecordingFolder = OUT,
    format: ObjectFormat = OutputFormat.TEXT,
    quiet: Quiet = False,
) -> None:
    """Run a script and record the models that it calls.

    Write -- before the command. The first calls of every model that torch.compile gets are recorded with the model's
    parameters, in a file for each: `eqfuzz check FILE` checks it. Nothing is compiled while it is recorded, and the
    script needs no change.

    Exit codes: 0 recorded, 2 usage, nothing to record or a failing script, 3 internal error, 130 interrupted.
    """
    as_json = format is OutputFormat.JSON
    raise typer.Exit(
        exit_code_of_long_run(
            lambda: _record(command, split_names(module), calls, limit * _MEGABYTE, out, as_json, quiet),
            stopped="the script was ended",
        )
    )


def _record(
    command: list[str], chosen: list[str], calls: int, limit: int, out: Path, as_json: bool, quiet: bool
) -> int:
    from eqfuzz.commands.models.record_calls import record_calls

    run = record_calls(command, out, chosen=chosen, calls=calls, limit=limit, silent=as_json)
    if as_json:
        typer.echo(json.dumps(dataclasses.asdict(run)))
    else:
        _show(run, quiet)
    return _code(run, command, chosen)


def _show(run: RecordedRun, quiet: bool) -> None:
    from rich.text import Text

    from eqfuzz.report.formatting import count, printable
    from eqfuzz.report.terminal import make_console

    console = make_console()
    for model in run.models:
        size = f"{model.bytes / _MEGABYTE:,.1f} MB"
        line = f"{model.name}: {count(len(model.calls), 'call')}, {size}, in {model.file}"
        console.print(Text(printable(line)), soft_wrap=True)
        for shapes in () if quiet else model.calls:
            console.print(Text(f"  {printable(shapes)}", "dim"), soft_wrap=True)
    if run.models and not quiet:
        console.print(Text(f"Next: eqfuzz check {run.models[0].file}"), soft_wrap=True)


def _code(run: RecordedRun, command: list[str], chosen: list[str]) -> int:
    """The exit code, after a line for everything that went wrong."""
    for problem in run.problems:
        complain(problem)
    if run.status == -signal.SIGINT:
        complain("interrupted")
        return INTERRUPTED
    if run.status:
        how = f"was ended by signal {-run.status}" if run.status < 0 else f"ended with exit status {run.status}"
        complain(f"{' '.join(command)} {how}" + ("" if run.models else ": nothing is recorded"))
        return USAGE
    if not run.models and not run.problems:
        what = f"calls nothing named {' or '.join(chosen)}" if chosen else "calls no model"
        complain(f"{' '.join(command)} {what}: nothing is recorded")
    return CLEAN if run.models else USAGE
