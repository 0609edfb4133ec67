"""Run a fault's witness, a small program with arguments that must differ from eager under the fault only.

``python -m tools.fault_detection.witness FAULT FOLDER`` runs the witness of the file FAULT without the fault and with
it, each in a child with its own kernel cache below FOLDER. It prints the differences, then ``clean: agrees`` and
``planted: differs``, or other results.
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

RESULTS = {0: "agrees", 1: "differs"}
"""Exit codes of the children; any other is an exception or a crash."""

CallRecord = list[Any]
"""Everything observed of one call, in an order that is the same for eager and compiled."""


def main(path: str, folder: str) -> int:
    fault = read_fault(Path(path))
    torch.set_num_threads(1)
    states = {"clean": False, "planted": True}
    exit_codes = {state: _run_in_child(fault, planted, Path(folder) / state) for state, planted in states.items()}
    for state, code in exit_codes.items():
        print(f"{state}: {RESULTS.get(code, 'raises')}")
    return 0


def _run_in_child(fault: Fault, planted: bool, cache: Path) -> int:
    """Run the witness in a fork, since a fault cannot be removed from its process. Returns the child's exit code."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        code = 2
        try:
            os.environ["TORCHINDUCTOR_CACHE_DIR"] = str(cache)
            code = int(_differs(fault, planted))
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            os._exit(code)
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


def observe(program: Callable[..., Any], calls: Sequence[tuple[Any, ...]]) -> list[CallRecord]:
    """Outputs, arguments after the call and gradients of every call, or the class of its exception."""
    return [_observe_call(program, args) for args in copy.deepcopy(calls)]


def _observe_call(program: Callable[..., Any], args: tuple[Any, ...]) -> CallRecord:
    torch.manual_seed(0)
    try:
        output = program(*args)
    except Exception as error:
        return ["raised", type(error).__name__]
    storages: dict[int, int] = {}
    record = [_describe(leaf, storages) for leaf in tree_leaves((args, output))]
    differentiable = [
        leaf for leaf in tree_leaves(output) if isinstance(leaf, torch.Tensor) and leaf.grad_fn is not None
    ]
    if differentiable:
        try:
            torch.autograd.backward(differentiable, [_ramp(leaf) for leaf in differentiable])
        except Exception as error:
            return [*record, "backward raised", type(error).__name__]
        leaves = [leaf for leaf in tree_leaves(args) if isinstance(leaf, torch.Tensor) and leaf.is_leaf]
        record += [None if leaf.grad is None else _describe(leaf.grad, {}) for leaf in leaves]
    return record


def _ramp(output: torch.Tensor) -> torch.Tensor:
    return torch.linspace(0.5, 1.5, output.numel(), dtype=torch.float64).reshape(output.shape).to(output.dtype)


def _describe(value: Any, storages: dict[int, int]) -> Any:
    """Dtype, metadata, number of the storage (by first occurrence) and values of a tensor; the text of other values."""
    if not isinstance(value, torch.Tensor):
        return type(value).__name__, repr(value)
    storage = None
    if value.layout == torch.strided and value.numel():
        storage = storages.setdefault(value.untyped_storage().data_ptr(), len(storages))
    layout = (tuple(value.shape), value.stride(), value.storage_offset(), storage)
    return value.dtype, layout, value.requires_grad, value.detach().clone()


def same(one: Any, other: Any) -> bool:
    """Whether both are equal in structure and text, floats up to rounding errors of a small program."""
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
