"""Specimens: real programs in every float dtype, run once in eager and once compiled, with their references."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import torch

from eqfuzz.oracle.compare.eager_judge import judge_self
from eqfuzz.oracle.compare.oracles import judge_compiled
from eqfuzz.oracle.compare.verdict import Verdict, VerdictKind
from eqfuzz.oracle.observe.observation import Observation
from eqfuzz.oracle.observe.observer import Transform, observe
from eqfuzz.oracle.reference.error_bound import reference
from eqfuzz.oracle.reference.reference import Reference
from eqfuzz.oracle.thresholds import THRESHOLDS
from eqfuzz.program.call import Call
from eqfuzz.program.load import Loaded
from eqfuzz.program.program import InvalidSeed, Program
from eqfuzz.torch_internals.trees import tree_map

DTYPES = (torch.float32, torch.float64, torch.float16, torch.bfloat16)


State = dict[str, torch.Tensor] | None
"""The parameters and buffers of a module by name; None for a function."""


class NoSpecimen(Exception):
    """The program cannot be measured in this dtype; ``str()`` is the reason."""


@dataclasses.dataclass(frozen=True)
class Specimen:
    """One program in one dtype, run twice.

    Attributes:
        program: The program.
        dtype: That of all its floating-point inputs and parameters.
        make: Creates the callable.
        calls: Its first input set.
        eager: ``calls`` observed in eager.
        other: A second, correct run that may round differently: compiled, or eager's if nothing is compiled.
        references: One for each number of noisy runs in ``THRESHOLDS.samples``.
    """

    program: Program
    dtype: torch.dtype
    make: Callable[[], Any]
    calls: list[Call]
    eager: Observation
    other: Observation
    references: tuple[Reference, ...]


def initial_state(program: Program) -> State:
    """What a module of the program begins with. Raises NoSpecimen."""
    try:
        target = Loaded(program).instance()
    except InvalidSeed as error:
        raise NoSpecimen(error.reason) from error
    return target.state_dict() if isinstance(target, torch.nn.Module) else None


def make_specimen(
    program: Program, dtype: torch.dtype, seed: int, transform: Transform | None = None, state: State = None
) -> Specimen:
    """The program with every float32 number of its arguments and parameters in ``dtype``.

    Arguments require gradients if the program supports it. ``transform``, such as ``torch.compile``, makes the other
    run. A module begins with ``state``, where it is not None: parameters that kernels of another vector width draw
    differ in their last bits. Raises NoSpecimen.
    """
    try:
        loaded = Loaded(program)
        first_call = loaded.calls(seed)[0]
    except InvalidSeed as error:
        raise NoSpecimen(error.reason) from error

    def make() -> Any:
        target = loaded.instance()
        if isinstance(target, torch.nn.Module) and state is not None:
            target.load_state_dict(state)
        return target.to(dtype) if isinstance(target, torch.nn.Module) and dtype is not torch.float32 else target

    reason = ""
    for wants_gradients in (True, False):
        calls = [cast(first_call, dtype, wants_gradients)]
        eager = observe(make, calls)
        raised = eager.calls[0].raised
        reason = f"raises {raised.type}: {raised.message}" if raised is not None else ""
        if raised is None:
            repeated = judge_self(eager, observe(make, calls))
            reason = "" if repeated.kind is VerdictKind.AGREE else repeated.message
        if not reason:
            references: list[Reference] = []
            for samples in THRESHOLDS.samples:
                before = references[-1] if references else None
                references.append(reference(make, calls, seed=seed, samples=samples, before=before))
            narrowest = references[0].narrowest
            if narrowest is not None and torch.finfo(narrowest).eps > torch.finfo(dtype).eps:
                raise NoSpecimen(f"computes in {str(narrowest).removeprefix('torch.')}")
            return Specimen(
                program, dtype, make, calls, eager, _other(make, calls, eager, transform), tuple(references)
            )
    raise NoSpecimen(reason)


def judge_with_references(eager: Observation, other: Observation, references: Sequence[Reference]) -> Verdict:
    """The verdict on two runs as for a cell: without a reference, then with each of them until the runs agree."""
    verdict = judge_compiled(eager, other, None)
    for measured in references:
        if verdict.kind is VerdictKind.AGREE:
            break
        verdict = judge_compiled(eager, other, measured)
    return verdict


def _other(make: Callable[[], Any], calls: list[Call], eager: Observation, transform: Transform | None) -> Observation:
    if transform is None:
        return eager
    compiled = observe(make, calls, transform=transform)
    raised = compiled.calls[0].raised
    if raised is not None:
        raise NoSpecimen(f"raises when compiled: {raised.type}: {raised.message}")
    return compiled


def cast(call: Call, dtype: torch.dtype, wants_gradients: bool) -> Call:
    """The call with its float32 tensors in ``dtype``; arguments that are one tensor stay one."""
    converted: dict[int, Any] = {}

    def one(value: Any) -> Any:
        if type(value) is not torch.Tensor or value.dtype is not torch.float32 or value.layout is not torch.strided:
            return value
        if id(value) not in converted:
            new = value if dtype is torch.float32 else value.detach().to(dtype)
            converted[id(value)] = new.requires_grad_(value.requires_grad or (wants_gradients and value.is_leaf))
        return converted[id(value)]

    fresh = call.copy()
    args, kwargs = tree_map(one, (fresh.args, fresh.kwargs))
    return dataclasses.replace(call, args=args, kwargs=kwargs)
