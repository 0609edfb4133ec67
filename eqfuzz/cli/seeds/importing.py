"""``eqfuzz seeds import``: models of other tools as seeds."""

from __future__ import annotations

import sys
from pathlib import Path

import typer

from eqfuzz.cli.exit_codes import CLEAN, INTERRUPTED, USAGE, complain
from eqfuzz.cli.exit_handling import exit_code_of_long_run
from eqfuzz.cli.options.common import EventFormat, OutputFormat, Quiet, Unsafe
from eqfuzz.cli.options.seeds import Drawn, Gradients, ModelPaths, SeedFolder, Sizes
from eqfuzz.cli.options.values import BadOption, split_names

SEEDS = Path("eqfuzz-out/seeds")


def import_models(
    models: ModelPaths,
    out: SeedFolder = SEEDS,
    drawn: Drawn = False,
    gradients: Gradients = False,
    size: Sizes = None,
    unsafe: Unsafe = False,
    format: EventFormat = OutputFormat.TEXT,
    quiet: Quiet = False,
) -> None:
    """Import ONNX models as seeds.

    Each model becomes a file of readable PyTorch, with large weights beside it. Models are read in the sandbox.

    Exit codes: 0 all imported, 2 usage or a model that cannot be imported, 3 internal error, 130 interrupted.
    """
    sizes = tuple(_size_of(text) for text in split_names(size))
    raise typer.Exit(
        exit_code_of_long_run(
            lambda: _import(models, out, (drawn, gradients, unsafe), sizes, format is OutputFormat.JSON, quiet),
            stopped=f"seeds so far are in {out}",
        )
    )


def _size_of(text: str) -> tuple[str, int]:
    name, mark, number = text.rpartition("=")
    if not (mark and name and number.isdigit() and int(number) > 0):
        raise BadOption("--size", f"{text!r} is no size of a dimension: write batch=4")
    return name, int(number)


def _import(
    models: list[Path],
    out: Path,
    flags: tuple[bool, bool, bool],
    sizes: tuple[tuple[str, int], ...],
    as_json: bool,
    quiet: bool,
) -> int:
    from eqfuzz.commands import import_seeds
    from eqfuzz.imports.onnx_models import ImportOptions
    from eqfuzz.report.machine.json_lines import JsonLines
    from eqfuzz.report.terminal import make_console
    from eqfuzz.report.verbs.seeds import SeedsReport

    drawn, gradients, unsafe = flags
    options = ImportOptions(drawn=drawn, gradients=gradients, sizes=sizes, unsafe=unsafe)
    files = import_seeds.model_files(models)
    report = JsonLines(sys.stdout) if as_json else SeedsReport(make_console(), "model", "imported", quiet=quiet)
    try:
        with report:
            summary = import_seeds.import_models(files, out, report.handle, options)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise BadOption("--out", f"{error.filename or out}: {error.strerror}") from None
    if summary.interrupted:
        complain("interrupted")
        return INTERRUPTED
    return USAGE if summary.failed else CLEAN
