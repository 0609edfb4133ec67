"""Whether a fault's witness, a small program with arguments, compiles into something else than eager.

``python -m tools.fault_detection.witness FAULT FOLDER`` tries that of the file FAULT without the fault and with it,
each in a process of its own with its own kernel cache below FOLDER. It prints what differs, and at last
``clean: agrees`` and ``planted: differs``, or otherwise.
"""

from __future__ import annotations

import copy
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
import torch._dynamo
import torch._inductor.compile_fx
import torch._inductor.config
from torch.utils._pytree import tree_leaves

from tools.fault_detection.fault import Fault, execute, read_fault

ENDS = {0: "agrees", 1: "differs"}
"""What the exit codes of the children mean; any other is an exception or a crash."""

Seen = list[Any]
"""What one call showed, in an order that is the same for eager and compiled."""


def main(path: str, folder: str) -> int:
    fault = read_fault(Path(path))
    torch.set_num_threads(1)
    states = {"clean": False, "planted": True}
    ends = {state: _forked(fault, planted, Path(folder) / state) for state, planted in states.items()}
    for state, end in ends.items():
        print(f"{state}: {ENDS.get(end, 'raises')}")
    return 0


def _forked(fault: Fault, planted: bool, cache: Path) -> int:
    """Try in a child, since a fault stays for as long as its process; the child's exit code.

    A fork, because importing torch and its compiler takes longer than the rest.
    """
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        end = 2
        try:
            os.environ["TORCHINDUCTOR_CACHE_DIR"] = str(cache)
            end = int(_differs(fault, planted))
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            os._exit(end)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _differs(fault: Fault, planted: bool) -> bool:
    module = execute(fault, planted=planted)
    torch._inductor.config.fallback_random = True  # type: ignore[assignment]
    program, calls = module.witness()
    eager = observe(program, calls)
    program, calls = module.witness()
    compiled = observe(torch.compile(program), calls)
    for number, (one, other) in enumerate(zip(eager, compiled, strict=True)):
        if not same(one, other):
            print(f"call {number}\n  eager:    {one}\n  compiled: {other}")
    differs = getattr(module, "differs", lambda a, b: not same(a, b))
    return bool(differs(eager, compiled))


def observe(program: Callable[..., Any], calls: Sequence[tuple[Any, ...]]) -> list[Seen]:
    """Outputs, arguments after the call and gradients of every call; or what it raised."""
    return [_observe_call(program, args) for args in copy.deepcopy(calls)]


def _observe_call(program: Callable[..., Any], args: tuple[Any, ...]) -> Seen:
    torch.manual_seed(0)
    try:
        output = program(*args)
    except Exception as error:
        return ["raised", type(error).__name__]
    storages: dict[int, int] = {}
    seen = [_describe(leaf, storages) for leaf in tree_leaves((args, output))]
    differentiable = [
        leaf for leaf in tree_leaves(output) if isinstance(leaf, torch.Tensor) and leaf.grad_fn is not None
    ]
    if differentiable:
        try:
            torch.autograd.backward(differentiable, [_ramp(leaf) for leaf in differentiable])
        except Exception as error:
            return [*seen, "backward raised", type(error).__name__]
        leaves = [leaf for leaf in tree_leaves(args) if isinstance(leaf, torch.Tensor) and leaf.is_leaf]
        seen += [None if leaf.grad is None else _describe(leaf.grad, {}) for leaf in leaves]
    return seen


def _ramp(output: torch.Tensor) -> torch.Tensor:
    return torch.linspace(0.5, 1.5, output.numel(), dtype=torch.float64).reshape(output.shape).to(output.dtype)


def _describe(value: Any, storages: dict[int, int]) -> Any:
    """Type, metadata, which storage (by order of first sight) and values of a tensor; the text of anything else."""
    if not isinstance(value, torch.Tensor):
        return type(value).__name__, repr(value)
    storage = None
    if value.layout == torch.strided and value.numel():
        storage = storages.setdefault(value.untyped_storage().data_ptr(), len(storages))
    place = (tuple(value.shape), value.stride(), value.storage_offset(), storage)
    return value.dtype, place, value.requires_grad, value.detach().clone()


def same(one: Any, other: Any) -> bool:
    """Equal in structure and text; floats up to what rounding explains in a small program."""
    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        if one.dtype != other.dtype or one.shape != other.shape:
            return False
        if one.is_floating_point() or one.is_complex():
            half = one.dtype in (torch.float16, torch.bfloat16)
            return torch.allclose(one, other, rtol=2e-2 if half else 1e-4, atol=1e-5, equal_nan=True)
        return torch.equal(one, other)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
