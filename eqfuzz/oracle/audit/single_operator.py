"""One ATen operator judged in isolation: its compiled results for given operands, against eager and the reference."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import torch

from eqfuzz.oracle.audit.suspect import Disagreement
from eqfuzz.oracle.compare.leaf_comparison import Difference, against_reference
from eqfuzz.oracle.compare.leaf_metadata import metadata_difference
from eqfuzz.oracle.compare.observation_diff import evidence_of
from eqfuzz.oracle.compare.oracles import NAMES
from eqfuzz.oracle.observe.leaf_values import identical
from eqfuzz.oracle.reference.error_bound import growing_references
from eqfuzz.oracle.reference.reference import Reference
from eqfuzz.oracle.reference.rounding_model import base_name
from eqfuzz.program.call import Call
from eqfuzz.torch_internals.operators import OpOverload, cast
from eqfuzz.torch_internals.trees import tree_leaves


@dataclasses.dataclass(frozen=True)
class SingleOperatorResult:
    """``value`` is what the operator gives in eager. ``unjudged`` is the reason why nothing can be decided."""

    value: Any = None
    wrong: Disagreement | None = None
    unjudged: str = ""


@dataclasses.dataclass(frozen=True)
class _Pair:
    """One result of the operator in eager and compiled."""

    eager: Any
    compiled: torch.Tensor


def judge_operator(
    func: OpOverload, args: tuple, kwargs: dict[str, Any], compiled: Mapping[int, torch.Tensor], seed: int
) -> SingleOperatorResult:
    """Judge the ``compiled`` results, by their position among the results, for these operands."""
    if torch.Tag.nondeterministic_seeded in func.tags:
        return SingleOperatorResult(unjudged="it draws random numbers")
    if base_name(func).startswith(("empty", "new_empty")):
        return SingleOperatorResult(unjudged="its memory is not initialised")

    def isolated(*args: Any, **kwargs: Any) -> Any:
        return _in_aten(func)(*args, **kwargs)

    call = Call(args, kwargs)
    try:
        with torch.no_grad():
            copy = call.copy()
            value = isolated(*copy.args, **copy.kwargs)
    except Exception as error:
        # Inductor has overloads of operators without an eager kernel. The audit counts these reasons.
        return SingleOperatorResult(unjudged=f"{func} raises {type(error).__name__} when run in isolation in eager")
    results = tree_leaves(value)
    if not any(isinstance(leaf, torch.Tensor) for leaf in results):
        return SingleOperatorResult(value)
    pairs = {part: _Pair(results[part], result) for part, result in compiled.items() if part < len(results)}
    if not pairs:
        return SingleOperatorResult(value, unjudged="its result is not used")
    wrong = _wrong_metadata(pairs)
    if wrong is not None:
        return SingleOperatorResult(value, wrong)
    wrong, unjudged = _wrong_values(isolated, call, pairs, seed)
    return SingleOperatorResult(value, wrong, unjudged)


def _wrong_metadata(pairs: Mapping[int, _Pair]) -> Disagreement | None:
    for part, pair in pairs.items():
        message = metadata_difference(pair.eager, pair.compiled, NAMES, strict=False)
        if message:
            return Disagreement(message, str(pair.compiled.dtype), tuple(pair.compiled.shape), part)
    return None


def _wrong_values(
    isolated: Callable[..., Any], call: Call, pairs: Mapping[int, _Pair], seed: int
) -> tuple[Disagreement | None, str]:
    """The first wrong result, or the reason why the reference cannot decide."""
    differing = {
        part: pair for part, pair in pairs.items() if not identical(pair.eager, pair.compiled, signed_zero=False)
    }
    wrong: dict[int, Difference] = {}
    inconclusive = ""
    if not differing:
        return None, ""
    for measured in growing_references(lambda: isolated, [call], seed=seed):
        differences = _differences(measured, differing)
        if differences is None:
            return None, "it has no reference"
        wrong = {part: difference for part, difference in differences.items() if not difference.inconclusive}
        inconclusive = next((one.inconclusive for one in differences.values() if one.inconclusive), "")
        if not wrong:
            differing = {part: differing[part] for part in differences}
        if not differing:
            return None, ""
    if wrong:
        part, difference = next(iter(wrong.items()))
        return _disagreement(part, difference, differing[part].compiled), ""
    return None, f"undecided: {inconclusive}" if inconclusive else ""


def _differences(operator_reference: Reference, pairs: Mapping[int, _Pair]) -> dict[int, Difference] | None:
    """How each pair differs by a reference, without those that agree; None without one."""
    if not operator_reference.calls:
        return None
    (reference_call,) = operator_reference.calls
    if reference_call.raised is not None or len(reference_call.outputs) <= max(pairs):
        return None
    reason = operator_reference.data_dependent or operator_reference.unknown
    differences = {
        part: against_reference(pair.eager, pair.compiled, reference_call.outputs[part][1], reason)
        for part, pair in pairs.items()
    }
    return {part: difference for part, difference in differences.items() if difference is not None}


def _disagreement(part: int, difference: Difference, compiled: torch.Tensor) -> Disagreement:
    evidence = dataclasses.replace(evidence_of(difference), error_map=None)
    return Disagreement(difference.describe(NAMES), str(compiled.dtype), tuple(compiled.shape), part, evidence)


def _in_aten(func: OpOverload) -> Callable[..., Any]:
    """The ATen operator equivalent to a primitive of the compiler, whose arithmetic is known; others as they are."""
    if func is torch.ops.prims.convert_element_type.default:
        return cast
    return func
