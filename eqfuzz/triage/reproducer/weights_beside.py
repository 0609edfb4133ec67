"""Weights of a program in the folder of its reproducer: the file, and the text that reads it."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path

from eqfuzz.program.program import Program

MODULES = frozenset({"json", "pathlib"})
"""Modules that the text needs besides torch."""


def copy_weights(program: Program, folder: Path) -> None:
    """Put the weights of ``program``, if it has any, into ``folder`` under their own name. Raises OSError."""
    if program.weights:
        copy = folder / Path(program.weights).name
        if not (copy.exists() and copy.samefile(program.weights)):
            shutil.copyfile(program.weights, copy)


def with_weights_in(folder: Path, program: Program) -> Program:
    """``program`` with the weights that ``copy_weights`` put into ``folder``, wherever the folder lies now."""
    copy = folder / Path(program.weights).name
    return dataclasses.replace(program, weights=str(copy.resolve())) if program.weights and copy.exists() else program


def weights_text(program: Program) -> str:
    """Statements that make the global through which ``program`` reads its weights; empty where it has none."""
    if not program.weights:
        return ""
    import inspect

    from eqfuzz.program.weights import NAME, Weights  # it needs torch, which showing findings does not

    source = "\n".join(line.split("  # noqa")[0] for line in inspect.getsource(Weights).splitlines())
    return f"{source}\n\n\n{NAME} = Weights(pathlib.Path(__file__).with_name({Path(program.weights).name!r}))"
