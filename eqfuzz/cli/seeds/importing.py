"""``eqfuzz seeds import``: models of other tools as seeds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from eqfuzz.cli.exit_handling import exit_code_of_long_run
from eqfuzz.cli.options.common import EventFormat, OutputFormat, Quiet, Unsafe
from eqfuzz.cli.options.seeds import Construct, Drawn, Gradients, InputSets, ModelPaths, SeedFolder, Sizes
from eqfuzz.cli.options.values import BadOption, split_names
from eqfuzz.cli.seeds.reporting import exit_code_of, report

if TYPE_CHECKING:
    from eqfuzz.imports.models import ImportOptions
    from eqfuzz.imports.python_models import PythonReference

SEEDS = Path("eqfuzz-out/seeds")
SAVED_MODULES = (".pt", ".pth")


def import_models(
    models: ModelPaths,
    out: SeedFolder = SEEDS,
    drawn: Drawn = False,
    gradients: Gradients = False,
    size: Sizes = None,
    construct: Construct = "",
    inputs: InputSets = None,
    unsafe: Unsafe = False,
    format: EventFormat = OutputFormat.TEXT,
    quiet: Quiet = False,
) -> None:
    """Import models as seeds: ONNX files, programs of torch.export, or a Python class.

    Each file becomes one of readable PyTorch, with large weights beside it; it is read in the sandbox. Of a class,
    the definitions that it needs of its project are gathered in one file; nothing is run.

    Exit codes: 0 all imported, 2 usage or a model that cannot be imported, 3 internal error, 130 interrupted.
    """
    sizes = tuple(_size_of(text) for text in split_names(size))
    reference = _class_of(models, construct, inputs or [])
    if reference is not None:
        as_json = format is OutputFormat.JSON
        raise typer.Exit(_import_class(reference, construct, inputs or [], out, as_json, quiet))
    if construct:
        raise BadOption("--construct", "is for a class: package.module:Class")
    if inputs and not any(path.suffix in SAVED_MODULES for path in models):
        raise BadOption("--inputs", "is for a class, package.module:Class, or a module of torch.save, NAME.pt")

    def options() -> ImportOptions:
        from eqfuzz.imports.models import ImportOptions

        return ImportOptions(drawn, gradients, sizes, tuple(inputs or ()), unsafe)

    raise typer.Exit(
        exit_code_of_long_run(
            lambda: _import(models, out, options(), format is OutputFormat.JSON, quiet),
            stopped=f"seeds so far are in {out}",
        )
    )


def _size_of(text: str) -> tuple[str, int]:
    name, mark, number = text.rpartition("=")
    if not (mark and name and number.isdigit() and int(number) > 0):
        raise BadOption("--size", f"{text!r} is no size of a dimension: write batch=4")
    return name, int(number)


def _class_of(models: list[Path], construct: str, inputs: list[str]) -> PythonReference | None:
    """The Python class or function that is to be imported; None: files are. Raises BadOption."""
    from eqfuzz.imports.python_models import PythonReference

    references = [PythonReference.of(str(path)) for path in models if not path.exists()]
    named = [reference for reference in references if reference is not None]
    if not named:
        return None
    if len(models) > 1:
        raise BadOption("MODELS", f"import {named[0]} alone: its inputs are its own")
    if not inputs:
        raise BadOption("--inputs", f"{named[0]} needs inputs: write --inputs 'rng.normal(2, 3, 32, 32)'")
    return named[0]


def _import_class(
    reference: PythonReference, construct: str, inputs: list[str], out: Path, as_json: bool, quiet: bool
) -> int:
    from eqfuzz.commands.seeds.import_seeds import import_class

    return exit_code_of(
        report(
            lambda handler: import_class(reference, construct, inputs, out, handler),
            "model",
            "imported",
            out=out,
            as_json=as_json,
            quiet=quiet,
        )
    )


def _import(models: list[Path], out: Path, options: ImportOptions, as_json: bool, quiet: bool) -> int:
    from eqfuzz.commands.seeds import import_seeds

    files = import_seeds.model_files(models)
    return exit_code_of(
        report(
            lambda handler: import_seeds.import_models(files, out, handler, options),
            "model",
            "imported",
            out=out,
            as_json=as_json,
            quiet=quiet,
        )
    )
