"""A program's calls and state as Python source, for the script of a reproducer."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from eqfuzz.program.call import Call
from eqfuzz.program.literal import CannotDescribe, Writer
from eqfuzz.program.load import Loaded
from eqfuzz.program.namespace import globals_made_in_calls, plain_globals, stateful_definitions
from eqfuzz.run.devices import on_device
from eqfuzz.run.messages.finding_jobs import CallsDescribed

STATE_BYTES = 65536
"""Module state up to this size is written into a reproducer; larger state is regenerated from the seed."""


def describe(loaded: Loaded, calls: Sequence[Call], device: str) -> CallsDescribed:
    """The calls on ``device`` and the state; ``problem`` says why there is no source, where there is none."""
    namespace, source = loaded.module.__dict__, loaded.program.source
    writer = Writer()
    there = [on_device(call, device) for call in calls] if device != "cpu" else calls
    instance = loaded.instance()
    state = instance.state_dict() if isinstance(instance, torch.nn.Module) else {}
    try:
        body = writer.calls(there)
        is_written = sum(t.nbytes for t in state.values()) <= STATE_BYTES and not loaded.program.private
        weights = writer.value(dict(state)) if state and is_written else None
        problem = ""
    except CannotDescribe as error:
        body, weights, problem = "", None, str(error)
    return CallsDescribed(
        calls=body,
        state=weights,
        packs=writer.packs,
        changes=tuple((call.label, call.before, call.within) for call in calls),
        globals=tuple(sorted(plain_globals(namespace).keys() | globals_made_in_calls(namespace, source))),
        functions=tuple(stateful_definitions(namespace, source)),
        problem=problem,
    )
