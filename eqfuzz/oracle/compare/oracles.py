"""The oracles: what may not differ between a program's eager and its compiled run, one function for each aspect.

An oracle looks at a ``Comparison`` and answers with a verdict, or None where all is well. They are asked in the order
of the table, gravest difference first. ``@oracle("name")`` adds one, from a ``--preload`` file too.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection
from typing import Any

from eqfuzz.oracle.compare import observation_diff
from eqfuzz.oracle.compare.checks import ORACLES as BUILT_IN
from eqfuzz.oracle.compare.leaf_comparison import Difference, against_reference
from eqfuzz.oracle.compare.verdict import Evidence, Verdict, VerdictKind
from eqfuzz.oracle.observe.observation import Observation, Raised
from eqfuzz.oracle.reference.reference import LeafReference, Reference

NAMES = ("eager", "compiled")


@dataclasses.dataclass(frozen=True)
class Comparison:
    """The two observations of one program, and what its reference knows (None: not computed, or not asked for yet)."""

    eager: Observation
    compiled: Observation
    reference: Reference | None


Oracle = Callable[[Comparison], Verdict | None]
ORACLES: dict[str, Oracle] = {}
"""Name to oracle, in the order they are asked."""


def oracle(name: str) -> Callable[[Oracle], Oracle]:
    """Register the decorated function. Raises ValueError for a name that is taken."""

    def register(function: Oracle) -> Oracle:
        if name in ORACLES:
            raise ValueError(f"there is an oracle {name!r} already")
        ORACLES[name] = function
        return function

    return register


def judge_compiled(
    eager: Observation, compiled: Observation, reference: Reference | None, checks: Collection[str] | None = None
) -> Verdict:
    """What the oracles say: the first defect, else the first doubt, else agreement.

    Of the built-in ones those named in ``checks`` are asked (None: all), of others every one.
    """
    comparison = Comparison(eager, compiled, reference)
    unsure: Verdict | None = None
    for name, ask in ORACLES.items():
        if checks is not None and name in BUILT_IN and name not in checks:
            continue
        verdict = ask(comparison)
        if verdict is not None and verdict.kind is not VerdictKind.INCONCLUSIVE:
            return verdict
        unsure = unsure or verdict
    return unsure or Verdict(VerdictKind.AGREE, f"{NAMES[0]} and {NAMES[1]} agree")


def judge_metadata(eager: Observation, compiled: Observation) -> Verdict:
    """What can be said of two runs that draw other random numbers: everything but values."""
    comparison = Comparison(eager, compiled, None)
    verdict = exceptions(comparison) or metadata(comparison)
    for group in ("inputs_after", "state_after", "globals_after", "gradients"):
        sides = eager, compiled, group, VerdictKind.WRONG_METADATA, NAMES
        verdict = (
            verdict
            or observation_diff.paths_difference(*sides)
            or observation_diff.metadata_verdict(*sides, strict=False)
        )
    verdict = verdict or aliasing(comparison) or strides(comparison)
    return verdict or Verdict(VerdictKind.AGREE, f"{NAMES[0]} and {NAMES[1]} agree but for values")


@oracle("exceptions")
def exceptions(comparison: Comparison) -> Verdict | None:
    """Both raise or neither does; classes must agree for what the program's own statements raise."""
    for number, (first, second) in enumerate(observation_diff.padded(comparison.eager, comparison.compiled)):
        before = None if first is None else first.raised
        after = None if second is None else second.raised
        where = observation_diff.call_name(number, first or second)
        if after is not None and before is None:
            return _raises(after, number, where)
        if before is not None and after is None:
            message = f"{where}: eager raises {before.type}: {before.message}; compiled raises nothing"
            return Verdict(VerdictKind.EXCEPTION_MISMATCH, message, Evidence(call=number, eager=before.type))
        if before is not None and after is not None and before.by_statement:
            verdict = _classes(before, after, number, where)
            if verdict is not None:
                return verdict
    return None


@oracle("metadata")
def metadata(comparison: Comparison) -> Verdict | None:
    """What is returned: containers, dtypes, shapes, devices, ``requires_grad`` and ``is_leaf``."""
    sides = comparison.eager, comparison.compiled
    kind = VerdictKind.WRONG_METADATA
    return (
        observation_diff.unread_difference(*sides, kind, NAMES)
        or observation_diff.structure_difference(*sides, kind, NAMES)
        or observation_diff.paths_difference(*sides, "outputs", kind, NAMES)
        or observation_diff.metadata_verdict(*sides, "outputs", kind, NAMES, strict=True)
        or _equal(comparison, "traits", kind)
    )


@oracle("results")
def results(comparison: Comparison) -> Verdict | None:
    """Returned values."""
    return _values(comparison, "outputs", VerdictKind.WRONG_RESULT)


@oracle("side-effects")
def side_effects(comparison: Comparison) -> Verdict | None:
    """What is left in arguments, parameters, buffers, attributes and globals."""
    verdict = observation_diff.left_otherwise(
        comparison.eager, comparison.compiled, VerdictKind.WRONG_SIDE_EFFECT, NAMES
    )
    if verdict is not None:
        return verdict
    unsure = None
    for group in ("inputs_after", "state_after", "globals_after"):
        verdict = _values(comparison, group, VerdictKind.WRONG_SIDE_EFFECT)
        if verdict is not None and verdict.kind is not VerdictKind.INCONCLUSIVE:
            return verdict
        unsure = unsure or verdict
    return unsure


@oracle("aliasing")
def aliasing(comparison: Comparison) -> Verdict | None:
    """Which outputs share memory with arguments, state or each other, and at what distance."""
    return _equal(comparison, "shared", VerdictKind.WRONG_METADATA)


@oracle("gradients")
def gradients(comparison: Comparison) -> Verdict | None:
    """Gradients of arguments and parameters, along fixed cotangents."""
    return _values(comparison, "gradients", VerdictKind.WRONG_GRADIENT)


@oracle("prints")
def prints(comparison: Comparison) -> Verdict | None:
    """Printed lines and their order."""
    return observation_diff.lines_difference(comparison.eager, comparison.compiled, "printed", NAMES)


@oracle("warnings")
def warned(comparison: Comparison) -> Verdict | None:
    """The warnings that the program's own statements give."""
    return observation_diff.lines_difference(comparison.eager, comparison.compiled, "warned", NAMES)


@oracle("generators")
def generators(comparison: Comparison) -> Verdict | None:
    """The states of the random generators afterwards."""
    return _equal(comparison, "generators", VerdictKind.WRONG_SIDE_EFFECT)


@oracle("strides")
def strides(comparison: Comparison) -> Verdict | None:
    """The strides of what is returned, where a size is above 1: last, so that they never stand for a wrong number."""
    return observation_diff.strides_verdict(
        comparison.eager, comparison.compiled, "outputs", VerdictKind.WRONG_METADATA, NAMES
    )


def _values(comparison: Comparison, group: str, kind: VerdictKind) -> Verdict | None:
    sides = comparison.eager, comparison.compiled
    reason = no_reference(comparison.reference)

    def compare(_: str, first: Any, second: Any, known: LeafReference | None, __: Any) -> Difference | None:
        why = reason or ("" if known is not None else "the reference run did not come this far")
        return against_reference(first, second, known, why)

    return (
        observation_diff.paths_difference(*sides, group, kind, NAMES)
        or observation_diff.metadata_verdict(*sides, group, VerdictKind.WRONG_METADATA, NAMES, strict=False)
        or observation_diff.values_verdict(*sides, (comparison.reference, None), group, kind, compare, NAMES)
    )


def _equal(comparison: Comparison, group: str, kind: VerdictKind) -> Verdict | None:
    """Text and truth values, compared as they are."""
    sides = comparison.eager, comparison.compiled

    def compare(_: str, first: Any, second: Any, *__: Any) -> Difference | None:
        return None if first == second else Difference(None, first, second)

    return observation_diff.paths_difference(*sides, group, kind, NAMES) or observation_diff.values_verdict(
        *sides, (None, None), group, kind, compare, NAMES
    )


def no_reference(reference: Reference | None) -> str:
    """Why a reference cannot decide anything; empty where it can."""
    if reference is None:
        return "there is no reference"
    return reference.steered or reference.opaque


def _classes(before: Raised, after: Raised, number: int, where: str) -> Verdict | None:
    """The seed's own ``raise``: its class is part of what the program means."""
    if after.origin != "program" or after.out_of_memory:
        return _raises(after, number, where)
    if before.type == after.type:
        return None
    message = f"{where}: eager raises {before.type} and compiled raises {after.type}: {after.message}"
    evidence = Evidence(call=number, eager=before.type, compiled=after.type, frames=after.frames)
    return Verdict(VerdictKind.EXCEPTION_MISMATCH, message, evidence)


def _raises(after: Raised, number: int, where: str) -> Verdict:
    """Only the compiled program raises."""
    return Verdict(_kind_of(after), f"{where}: {_compiled_only(after)}", Evidence(call=number, frames=after.frames))


def _kind_of(raised: Raised) -> VerdictKind:
    if raised.out_of_memory:
        return VerdictKind.OUT_OF_MEMORY
    kinds = {"unsupported": VerdictKind.UNSUPPORTED, "compiler": VerdictKind.COMPILER_CRASH}
    return kinds.get(raised.origin, VerdictKind.EXCEPTION_MISMATCH)


def _compiled_only(raised: Raised) -> str:
    where = {"unsupported": "the compiler refuses with", "compiler": "the compiler fails with"}
    return f"{where.get(raised.origin, 'only compiled raises')} {raised.type}: {raised.message}"
