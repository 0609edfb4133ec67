"""A program's calls and state as Python source, for the script that is to make them again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from eqfuzz.program.call import Call
from eqfuzz.program.literal import CannotDescribe, Writer
from eqfuzz.program.load import Loaded
from eqfuzz.program.namespace import born_by, holding, plain_globals
from eqfuzz.run.devices import on_device

STATE_BYTES = 65536
"""Module state up to this size is written into a reproducer; larger state is made again from the seed."""


def describe(loaded: Loaded, calls: Sequence[Call], device: str) -> dict[str, Any]:
    """The fields of a ``described`` event; ``problem`` says why there is no source, where there is none."""
    namespace, source = loaded.module.__dict__, loaded.program.source
    writer = Writer()
    there = [on_device(call, device) for call in calls] if device != "cpu" else calls
    instance = loaded.instance()
    state = instance.state_dict() if isinstance(instance, torch.nn.Module) else {}
    try:
        body = writer.calls(there)
        small = sum(t.nbytes for t in state.values()) <= STATE_BYTES
        weights = writer.value(dict(state)) if state and small else None
        problem = ""
    except CannotDescribe as error:
        body, weights, problem = "", None, str(error)
    return {
        "calls": body,
        "state": weights,
        "packs": writer.packs,
        "changes": [(call.label, call.before, call.within) for call in calls],
        "globals": sorted(plain_globals(namespace).keys() | born_by(namespace, source)),
        "functions": holding(namespace, source),
        "problem": problem,
    }
