"""The job ``export``: the graph of a seed's first call, as ``torch.export`` sees it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from eqfuzz.errors import error_line
from eqfuzz.run.jobs.session import Session
from eqfuzz.run.messages.export_jobs import ExportJob, ProgramExported
from eqfuzz.run.messages.job import Emit


class _Called(torch.nn.Module):
    """A function as a module."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self._function = function

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self._function(*args, **kwargs)


def export_program(job: ExportJob, emit: Emit) -> None:
    """Export the seed and save the program. Raises InvalidSeed."""
    session = Session(job, emit)
    start, calls = session.accepted()
    session.require_completed(start.eager)
    session.clock.enter("export", job.limits.compile_s)
    instance, call = start.loaded.instance(), calls[0]
    module = instance if isinstance(instance, torch.nn.Module) else _Called(instance)
    problem = ""
    try:
        program = torch.export.export(module, call.args, call.kwargs, strict=False)
        torch.export.save(program, job.file)
    except Exception as error:  # of a program of the user's, and of an experimental part of torch
        problem = error_line(error)
    emit(ProgramExported(problem=problem))
