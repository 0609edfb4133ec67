"""A fault planted in eager: one torch function gives wrong values for one dtype, and programs either show it or not."""

from __future__ import annotations

import random
import signal
import sys
import warnings
from collections.abc import Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves

from eqfuzz.program.load import Loaded, reseed
from eqfuzz.program.namespace import MODULE_PREFIX
from eqfuzz.program.program import Program

Fault = tuple[str, torch.dtype]

_DULL = frozenset(
    """__get__ __set__ size dim numel __len__ detach requires_grad_ clone to numpy cpu item tolist __bool__ __float__
    __int__ __index__ is_floating_point stride __iter__ unbind copy_ equal __contains__""".split()
)


class _Watched(TorchFunctionMode):
    """Notes which functions run, and spoils what ``fault`` names."""

    def __init__(self, fault: Fault | None) -> None:
        super().__init__()
        self.fault = fault
        self.seen: set[Fault] = set()

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        name = getattr(func, "__name__", "")
        tensors = [t for t in (*args, *(kwargs or {}).values()) if isinstance(t, torch.Tensor)]
        if not tensors or name in _DULL or not isinstance(result, torch.Tensor) or result is tensors[0]:
            return result
        self.seen.add((name, tensors[0].dtype))
        if self.fault == (name, tensors[0].dtype):
            with torch.no_grad(), torch._C.DisableTorchFunction():
                return result.logical_not() if result.dtype == torch.bool else result + 1
        return result


class _Late(BaseException):
    """A program has used its CPU time. No ``except Exception`` of its own holds it."""


@contextmanager
def _seconds(limit: float):
    def late(*_: Any) -> None:
        raise _Late

    before = signal.signal(signal.SIGPROF, late)
    # Again each second: what is raised while Python cleans up an object is lost.
    signal.setitimer(signal.ITIMER_PROF, limit, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _outputs(program: Program, fault: Fault | None) -> tuple[list[Any], set[Fault]]:
    """What the program gives on all of its inputs, and which functions ran. Raises whatever it raises."""
    outputs: list[Any] = []
    loaded = Loaded(program)
    try:
        with warnings.catch_warnings(), _seconds(5):
            warnings.simplefilter("ignore")
            calls = loaded.calls(0)
            run = loaded.instance()
            watched = _Watched(fault)
            reseed()
            with watched:
                outputs += [run(*call.args, **call.kwargs) for call in calls]
    finally:
        sys.modules.pop(f"{MODULE_PREFIX}{program.digest}", None)
    return tree_leaves(outputs), watched.seen


def faults(program: Program) -> list[Fault]:
    """The faults that show in the program's outputs, in an order of their own."""
    plain, seen = _outputs(program, None)
    del plain
    return [f for f in sorted(seen, key=str) if shows(program, f)]


def visible_fault(program: Program) -> Fault | None:
    """One of them, drawn by the program's name."""
    visible = faults(program)
    return random.Random(Path(program.name).name).choice(visible) if visible else None


def shows(program: Program, fault: Fault) -> bool:
    """Whether the program runs, and the fault changes what it gives."""
    try:
        right, _ = _outputs(program, None)
        wrong, _ = _outputs(program, fault)
    except (Exception, _Late):
        return False
    return len(right) == len(wrong) and any(not _same(a, b) for a, b in zip(right, wrong, strict=True))


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor):
        if a.layout != torch.strided or b.layout != torch.strided:
            return True
        return a.shape != b.shape or torch.equal(torch.nan_to_num(a.detach()), torch.nan_to_num(b.detach()))
    if isinstance(a, float) and isinstance(b, float):
        return a == b or (a != a and b != b)
    return type(a) is not type(b) or not isinstance(a, (int, str)) or a == b


class Finder:
    """``shows_it`` for a planted fault; keeps what it was asked."""

    def __init__(self, fault: Fault) -> None:
        self.fault = fault
        self.asked: list[Program] = []

    def __call__(self, batch: Sequence[Program]) -> Program | None:
        for program in batch:
            self.asked.append(program)
            if shows(program, self.fault):
                return program
        return None
