"""Loading programs: executes the module text and makes the callable and its arguments. Runs seed code."""

from __future__ import annotations

import inspect
import linecache
import random
import sys
import types
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import torch

from eqfuzz.program.call import Call
from eqfuzz.program.inputs import Rng
from eqfuzz.program.namespace import MODULE_PREFIX, SavedGlobals
from eqfuzz.program.program import InvalidSeed, Program, SeedFormat
from eqfuzz.program.weights import NAME, Weights

STATE_SEED = 20250101
"""The seed of every random generator before a module is built and before call 0; call ``n`` adds ``n``."""


def reseed(seed: int = STATE_SEED) -> None:
    """Seed every random generator that a program may use."""
    random.seed(seed)
    np.random.seed(seed % 2**32)
    # torch.manual_seed formats a traceback for every absent kind of device: a millisecond, thousands of times.
    if torch.accelerator.is_available():
        torch.manual_seed(seed)
    else:
        torch.default_generator.manual_seed(seed)


class Loaded:
    """A program whose module text has been executed.

    Raises InvalidSeed when the text does not execute, the entry is missing or no inputs come out.
    """

    def __init__(self, program: Program, extra_globals: dict[str, Any] | None = None) -> None:
        self.program = program
        self.module = _execute(program, extra_globals or {})
        self._globals = SavedGlobals(self.module.__dict__)

    def instance(self) -> Callable[..., Any]:
        """A fresh callable: a new module with the same parameters every time, or the function.

        Globals that an earlier one changed are put back.
        """
        self._globals.restore()
        reseed()
        if self.program.format is SeedFormat.KERNELBENCH:
            return _construct_kernelbench(self.module)
        return eval(self.program.construct, self.module.__dict__)

    def calls(self, seed: int) -> list[Call]:
        """The input sets, in order; equal for equal ``seed``."""
        reseed(seed)
        namespace = self.module.__dict__
        namespace["rng"] = Rng(seed)
        value = eval(self.program.inputs, namespace)
        if self.program.format is SeedFormat.EQFUZZ:
            calls = _from_hook(value)
        elif self.program.format is SeedFormat.PTMODULE:
            calls = _from_list(value, self.instance())
        else:
            calls = [Call(tuple(value), {})]
        if not calls:
            raise InvalidSeed(self.program.name, f"`{self.program.inputs}` gave no input set: yield at least one")
        for call in calls:
            self._require_copyable(call)
        return calls

    def _require_copyable(self, call: Call) -> None:
        """Raises InvalidSeed where torch cannot copy an argument: every cell gets its own copy."""
        try:
            call.copy()
        except RuntimeError as error:
            if "support the deepcopy protocol" not in str(error):
                raise
            reason = "an input is the result of an operation on a tensor that requires grad: call .detach() on it"
            raise InvalidSeed(self.program.name, reason) from None


def _execute(program: Program, extra_globals: dict[str, Any]) -> types.ModuleType:
    name = f"{MODULE_PREFIX}{program.digest}"
    filename = f"<{program.name}>"
    module = types.ModuleType(name)
    module.__dict__.update(extra_globals)
    if program.weights:
        module.__dict__[NAME] = _weights_of(program)
    module.__file__ = filename
    # dataclasses, pickling and Dynamo look the defining module up by name; inspect reads linecache.
    sys.modules[name] = module
    linecache.cache[filename] = (len(program.source), None, program.source.splitlines(True), filename)
    reseed()
    exec(compile(program.source, filename, "exec"), module.__dict__)
    return module


def _weights_of(program: Program) -> Weights:
    try:
        return Weights(program.weights)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise InvalidSeed(program.name, f"its weights cannot be read from {program.weights}: {reason}") from None


def _construct_kernelbench(module: types.ModuleType) -> Callable[..., Any]:
    """``Model(*get_init_inputs())``; KernelBook's ``[args, kwargs]`` pair is accepted too."""
    arguments = module.__dict__["get_init_inputs"]() if "get_init_inputs" in module.__dict__ else []
    model = module.__dict__["Model"]
    if len(arguments) == 2 and isinstance(arguments[0], (list, tuple)) and isinstance(arguments[1], dict):
        return model(*arguments[0], **arguments[1])
    return model(*arguments)


def _from_hook(value: Any) -> list[Call]:
    """One set per yielded item; a tuple returned directly is one set."""
    if isinstance(value, (tuple, dict, torch.Tensor)) or not isinstance(value, Iterable):
        return [_one_call(value)]
    return [_one_call(item) for item in value]


def _one_call(item: Any) -> Call:
    if isinstance(item, tuple):
        return Call(item, {})
    if isinstance(item, dict):
        return Call((), item)
    return Call((item,), {})


def _from_list(tensors: Any, model: Callable[..., Any]) -> list[Call]:
    """The paper's ``input_tensors``: one set when forward takes them all, else one set per item."""
    items = list(tensors)
    forward = getattr(model, "forward", model)
    parameters = inspect.signature(forward).parameters.values()
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    required = sum(p.default is p.empty for p in positional)
    takes_any = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    if takes_any or (required <= len(items) <= len(positional) and len(positional) > 1):
        return [Call(tuple(items), {})]
    return [Call(tuple(item) if isinstance(item, (list, tuple)) else (item,), {}) for item in items]
