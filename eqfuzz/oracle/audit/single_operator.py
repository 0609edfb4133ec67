"""One ATen operator judged alone: what a compiled run made of its operands, against eager and the reference."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import torch

from eqfuzz.oracle.compare.leaf_comparison import Difference, against_reference, identical, metadata_difference
from eqfuzz.oracle.reference.error_bound import reference
from eqfuzz.oracle.reference.rounding_model import base_name
from eqfuzz.program.call import Call
from eqfuzz.torch_internals.operators import OpOverload, cast
from eqfuzz.torch_internals.trees import tree_leaves

SAMPLES = (8, 32)
"""Noisy runs behind a bound: few settle nearly all operators, many come before a claim."""


@dataclasses.dataclass(frozen=True)
class Disagreement:
    """A compiled value that is wrong, at its worst element.

    ``part`` is which of several results. Values are Python scalars or strings; ``allowed`` is the largest
    |compiled − reference| that would have been accepted. ``index`` is None, and only ``message`` says something, where
    dtype or shape are wrong.
    """

    message: str
    dtype: str
    shape: tuple[int, ...]
    part: int = 0
    index: tuple[int, ...] | None = None
    eager: Any = None
    compiled: Any = None
    reference: Any = None
    allowed: float | None = None
    wrong_elements: int = 0
    elements: int = 0

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Disagreement:
        index = data["index"]
        return cls(**{**data, "shape": tuple(data["shape"]), "index": None if index is None else tuple(index)})


@dataclasses.dataclass(frozen=True)
class SingleOperatorResult:
    """What came of it: what the operator gives in eager, what is wrong, or why nothing can be said."""

    value: Any = None
    wrong: Disagreement | None = None
    unjudged: str = ""


def judge_alone(
    func: OpOverload, args: tuple, kwargs: dict[str, Any], compiled: Mapping[int, torch.Tensor], seed: int
) -> SingleOperatorResult:
    """Judge the ``compiled`` results, by their position among the results, for these operands."""
    if torch.Tag.nondeterministic_seeded in func.tags:
        return SingleOperatorResult(unjudged="it draws random numbers")
    if base_name(func).startswith(("empty", "new_empty")):
        return SingleOperatorResult(unjudged="its memory is not initialised")

    def alone(*args: Any, **kwargs: Any) -> Any:
        return _in_aten(func)(*args, **kwargs)

    call = Call(args, kwargs)
    try:
        with torch.no_grad():
            copy = call.copy()
            value = alone(*copy.args, **copy.kwargs)
    except Exception as error:
        # Inductor knows forms of operators that no eager kernel has; which ones is what the count of reasons tells.
        return SingleOperatorResult(unjudged=f"{func} fails alone in eager: {type(error).__name__}")
    eager = tree_leaves(value)
    if not any(isinstance(leaf, torch.Tensor) for leaf in eager):
        return SingleOperatorResult(value)
    known = {part: (eager[part], result) for part, result in compiled.items() if part < len(eager)}
    if not known:
        return SingleOperatorResult(value, unjudged="its result is not used")
    return _judged(alone, call, value, known, seed)


def _judged(
    alone: Callable[..., Any], call: Call, value: Any, known: dict[int, tuple[Any, torch.Tensor]], seed: int
) -> SingleOperatorResult:
    for part, (eager, compiled) in known.items():
        message = metadata_difference(eager, compiled, strict=False)
        if message:
            message = message.replace("the first", "eager").replace("the second", "compiled")
            return SingleOperatorResult(value, Disagreement(message, str(compiled.dtype), tuple(compiled.shape), part))
    differing = {part: pair for part, pair in known.items() if not identical(*pair, signed_zero=False)}
    unsure = ""
    for samples in SAMPLES if differing else ():
        (measured,) = (found := reference(lambda: alone, [call], seed=seed, samples=samples)).calls
        if measured.raised is not None or len(measured.outputs) <= max(differing):
            return SingleOperatorResult(value, unjudged="it has no reference")
        reason = found.steered or found.opaque
        differences = {
            part: against_reference(*pair, measured.outputs[part][1], reason) for part, pair in differing.items()
        }
        wrong = {part: found for part, found in differences.items() if found is not None and not found.unsure}
        unsure = next((found.unsure for found in differences.values() if found is not None and found.unsure), "")
        if not wrong:
            differing = {part: differing[part] for part, found in differences.items() if found is not None}
            if not differing:
                return SingleOperatorResult(value)
        elif samples == SAMPLES[-1]:
            part, difference = next(iter(wrong.items()))
            return SingleOperatorResult(value, _disagreement(part, difference, differing[part][1]))
    return SingleOperatorResult(value, unjudged=f"undecided: {unsure}" if unsure else "")


def _disagreement(part: int, found: Difference, compiled: torch.Tensor) -> Disagreement:
    beyond = "" if found.allowed is None else f", allowed {found.allowed:.3g} from it"
    target = "" if found.reference is None else f", the reference is {found.reference!r}{beyond}"
    message = f"compiled gives {found.second!r}, eager {found.first!r}{target}"
    return Disagreement(
        message,
        str(compiled.dtype),
        tuple(compiled.shape),
        part,
        found.index,
        found.first,
        found.second,
        found.reference,
        found.allowed,
        found.wrong,
        found.elements,
    )


def _in_aten(func: OpOverload) -> Callable[..., Any]:
    """The ATen operator that a primitive of the compiler stands for, whose arithmetic is known."""
    if func is torch.ops.prims.convert_element_type.default:
        return cast
    return func
