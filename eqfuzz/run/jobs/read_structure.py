"""The job ``structure``: which operators, kernels and weights the program of a seed has."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, cast

import torch

from eqfuzz.oracle.audit.operator_counter import OperatorCounter
from eqfuzz.oracle.observe.observer import observe
from eqfuzz.program.pools.structure import ProgramStructure
from eqfuzz.run.jobs.session import Session
from eqfuzz.run.messages.job import Emit
from eqfuzz.run.messages.structure_jobs import StructureJob, StructureRead


def read_structure(job: StructureJob, emit: Emit) -> None:
    """Run the first call of a program in eager, and report its structure. Raises InvalidSeed."""
    session = Session(job, emit)
    start, calls = session.accepted()
    session.require_completed(start.eager)
    mode = OperatorCounter()
    submodules: dict[str, None] = {}

    def counted(target: Callable[..., Any]) -> Callable[..., Any]:
        if isinstance(target, torch.nn.Module):
            _note_calls(target, submodules)

        def run(*args: Any, **kwargs: Any) -> Any:
            with mode:
                return target(*args, **kwargs)

        return run

    session.clock.enter("eager", job.limits.eager_s)
    observe(start.loaded.instance, calls[:1], transform=counted)
    emit(
        StructureRead(
            structure=ProgramStructure(
                operators=tuple(sorted(mode.operators.items())),
                kernels=tuple(mode.kernels),
                parameters=_weights(start.loaded.instance()),
                layers=mode.layers,
                submodules=tuple(submodules),
            )
        )
    )


def _note_calls(model: torch.nn.Module, names: dict[str, None]) -> None:
    """From now on add the name of each submodule that is called to ``names``."""

    def hook(name: str, *_: Any) -> None:
        names.setdefault(name)

    for name, module in cast("Iterator[tuple[str, torch.nn.Module]]", model.named_modules()):
        if name:
            module.register_forward_pre_hook(partial(hook, name))


def _weights(model: Any) -> int:
    """Elements of all parameters and buffers; 0 for a function."""
    if not isinstance(model, torch.nn.Module):
        return 0
    return sum(tensor.numel() for tensor in itertools.chain(model.parameters(), model.buffers()))
