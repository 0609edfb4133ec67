"""Reads files of ``torch.export.save`` and ``torch.save`` as exported programs."""

from __future__ import annotations

import contextlib
import copy
import io
import warnings
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.export import ExportedProgram
from torch.export.passes import move_to_device_pass
from torch.fx import GraphModule

from eqfuzz.errors import error_line
from eqfuzz.program.inputs import Rng


class InvalidFile(Exception):
    """A file holds no program that can be read. ``str()`` is the reason."""


def read_program(path: Path, inputs: Sequence[str]) -> ExportedProgram:
    """The program in a file, on the CPU; ``inputs`` are expressions for a module that is still to be exported.

    Raises InvalidFile.
    """
    program = _archive(path) if path.suffix == ".pt2" else _saved_module(path, inputs)
    try:
        return move_to_device_pass(program, "cpu") if _elsewhere(program) else program
    except Exception as error:  # of a pass over a graph of unknown origin
        raise InvalidFile(f"moving it to the CPU raises {error_line(error)}") from None


def module_of(program: ExportedProgram) -> GraphModule:
    """The program as a module with buffers of its own, which a call may change, and without gradients.

    Kernels are chosen by whether a weight needs a gradient, and weights of seeds usually do not.
    """
    return copy.deepcopy(program.module()).requires_grad_(False)


def _elsewhere(program: ExportedProgram) -> bool:
    tensors = [*program.state_dict.values(), *program.constants.values()]
    return any(isinstance(one, torch.Tensor) and one.device.type != "cpu" for one in tensors)


def _archive(path: Path) -> ExportedProgram:
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, OSError) as error:
        raise InvalidFile(f"no archive of torch.export: {error}") from None
    inside = [name.partition("/")[2] for name in names]
    compiled = any(name.startswith("data/aotinductor/") for name in inside)
    if compiled and not any(name.startswith("models/") for name in inside):
        raise InvalidFile("AOTInductor compiled it, and the archive holds no program: save it with torch.export.save")
    try:
        with _quiet():
            return torch.export.load(path)
    except Exception as error:  # of a file of unknown origin
        raise InvalidFile(f"torch.export.load raises {error_line(error)}") from None


def _saved_module(path: Path, inputs: Sequence[str]) -> ExportedProgram:
    try:
        with _quiet():
            value = torch.load(path, map_location="cpu", weights_only=False)
    except Exception as error:  # of a file of unknown origin
        raise InvalidFile(f"torch.load raises {error_line(error)}: save it with torch.export.save") from None
    if isinstance(value, ExportedProgram):
        return value
    if not isinstance(value, nn.Module):
        raise InvalidFile(f"it holds a {type(value).__name__} and no module: save the program with torch.export.save")
    if not inputs:
        raise InvalidFile("a module of torch.save needs inputs: write --inputs 'rng.normal(2, 3, 32, 32)'")
    sets = [_evaluated(text) for text in inputs]
    with _quiet():
        try:
            return torch.export.export(value.eval() if not value.training else value, sets[0])
        except Exception as error:  # of a module of unknown origin
            raise InvalidFile(f"torch.export.export raises {error_line(error)}") from None


def _evaluated(text: str) -> tuple[Any, ...]:
    try:
        value = eval(text, {"rng": Rng(0), "torch": torch})  # as an input set of a seed
    except Exception as error:
        raise InvalidFile(f"--inputs {text!r} raises {error_line(error)}") from None
    return value if isinstance(value, tuple) else (value,)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        yield
