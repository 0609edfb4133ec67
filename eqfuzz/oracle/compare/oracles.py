"""The oracles, which compare a program's eager and compiled run, one function for each aspect.

An oracle takes a ``Comparison`` and returns a verdict, or None where both runs agree. Oracles run in the order of their
registration, from the gravest difference to the least. ``@oracle("name")`` adds one, from a ``--preload`` file too.
"""

from __future__ import annotations

import dataclasses
import traceback
from collections.abc import Callable, Collection
from typing import Any

from eqfuzz.errors import error_line
from eqfuzz.oracle.compare import observation_diff
from eqfuzz.oracle.compare.checks import ORACLES as BUILT_IN
from eqfuzz.oracle.compare.leaf_comparison import Difference, against_reference
from eqfuzz.oracle.compare.verdict import Evidence, Verdict, VerdictKind
from eqfuzz.oracle.observe.observation import Observation, Raised
from eqfuzz.oracle.reference.reference import LeafReference, Reference

NAMES = ("eager", "compiled")


@dataclasses.dataclass(frozen=True)
class Comparison:
    """Two observations of one program and its reference; None before the reference is computed, or without one."""

    eager: Observation
    compiled: Observation
    reference: Reference | None


class OracleFailed(Exception):
    """A user's oracle that does not work; ``str()`` says which and why."""


Oracle = Callable[[Comparison], Verdict | None]
ORACLES: dict[str, Oracle] = {}
"""Name to oracle, in the order in which they run."""


def oracle(name: str) -> Callable[[Oracle], Oracle]:
    """Register the decorated function. Raises ValueError for a name that is registered already."""

    def register(function: Oracle) -> Oracle:
        if name in ORACLES:
            raise ValueError(f"there is an oracle {name!r} already")
        ORACLES[name] = function
        return function

    return register


def judge_compiled(
    eager: Observation, compiled: Observation, reference: Reference | None, checks: Collection[str] | None = None
) -> Verdict:
    """The first verdict that is conclusive, else the first inconclusive one, else agreement.

    Of the built-in oracles those named in ``checks`` run (None: all of them), of the user's every one.
    """
    comparison = Comparison(eager, compiled, reference)
    inconclusive: Verdict | None = None
    for name in ORACLES:
        if checks is not None and name in BUILT_IN and name not in checks:
            continue
        verdict = ask_oracle(name, comparison)
        if verdict is not None and verdict.kind is not VerdictKind.INCONCLUSIVE:
            return verdict
        inconclusive = inconclusive or verdict
    return inconclusive or Verdict(VerdictKind.AGREE, f"{NAMES[0]} and {NAMES[1]} agree")


def ask_oracle(name: str, comparison: Comparison) -> Verdict | None:
    """The verdict of one oracle, which names it where it is the user's.

    Raises KeyError where there is none, and OracleFailed where the user's raises or returns something else.
    """
    if name in BUILT_IN:
        return ORACLES[name](comparison)
    try:
        verdict = ORACLES[name](comparison)
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        words = f"oracle {name} raises {error_line(error)} ({last.filename}:{last.lineno})"
        raise OracleFailed(words) from error
    if not isinstance(verdict, Verdict | None):
        raise OracleFailed(f"oracle {name} returns a {type(verdict).__name__}, neither a Verdict nor None")
    return verdict and dataclasses.replace(verdict, oracle=name)


def judge_metadata(eager: Observation, compiled: Observation) -> Verdict:
    """Compare two runs that draw different random numbers: everything but values."""
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
    return verdict or Verdict(VerdictKind.AGREE, f"{NAMES[0]} and {NAMES[1]} agree, values aside")


@oracle("exceptions")
def exceptions(comparison: Comparison) -> Verdict | None:
    """Both raise or neither does; the exceptions of the program's own ``raise`` statements have the same class."""
    for number, (first, second) in enumerate(observation_diff.padded(comparison.eager, comparison.compiled)):
        before = None if first is None else first.raised
        after = None if second is None else second.raised
        where = observation_diff.call_name(number, first or second)
        if after is not None and before is None:
            return _only_compiled_raises(after, number, where)
        if before is not None and after is None:
            message = f"{where}: eager raises {before.type}: {before.message}; compiled raises nothing"
            return Verdict(VerdictKind.EXCEPTION_MISMATCH, message, Evidence(call=number, eager=before.type))
        if before is not None and after is not None and before.by_statement:
            verdict = _class_verdict(before, after, number, where)
            if verdict is not None:
                return verdict
    return None


@oracle("metadata")
def metadata(comparison: Comparison) -> Verdict | None:
    """Containers, dtypes, shapes, devices, ``requires_grad`` and ``is_leaf`` of returned values."""
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
    """Arguments, parameters, buffers, attributes and globals after the call."""
    verdict = observation_diff.side_effect_structure_difference(
        comparison.eager, comparison.compiled, VerdictKind.WRONG_SIDE_EFFECT, NAMES
    )
    if verdict is not None:
        return verdict
    inconclusive = None
    for group in ("inputs_after", "state_after", "globals_after"):
        verdict = _values(comparison, group, VerdictKind.WRONG_SIDE_EFFECT)
        if verdict is not None and verdict.kind is not VerdictKind.INCONCLUSIVE:
            return verdict
        inconclusive = inconclusive or verdict
    return inconclusive


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
    """Warnings of the program's own statements."""
    return observation_diff.lines_difference(comparison.eager, comparison.compiled, "warned", NAMES)


@oracle("generators")
def generators(comparison: Comparison) -> Verdict | None:
    """The states of the random generators afterwards."""
    return _equal(comparison, "generators", VerdictKind.WRONG_SIDE_EFFECT)


@oracle("strides")
def strides(comparison: Comparison) -> Verdict | None:
    """Strides of returned tensors in dimensions larger than 1; last, so that they never hide a wrong number."""
    return observation_diff.strides_verdict(
        comparison.eager, comparison.compiled, "outputs", VerdictKind.WRONG_METADATA, NAMES
    )


def _values(comparison: Comparison, group: str, kind: VerdictKind) -> Verdict | None:
    sides = comparison.eager, comparison.compiled
    reason = no_reference(comparison.reference)

    def compare(_: str, first: Any, second: Any, leaf: LeafReference | None, __: Any) -> Difference | None:
        why = reason or ("" if leaf is not None else "the reference run ended before this call")
        return against_reference(first, second, leaf, why)

    return (
        observation_diff.paths_difference(*sides, group, kind, NAMES)
        or observation_diff.metadata_verdict(*sides, group, VerdictKind.WRONG_METADATA, NAMES, strict=False)
        or observation_diff.values_verdict(*sides, (comparison.reference, None), group, kind, compare, NAMES)
    )


def _equal(comparison: Comparison, group: str, kind: VerdictKind) -> Verdict | None:
    """Exact comparison of text and truth values."""
    sides = comparison.eager, comparison.compiled

    def compare(_: str, first: Any, second: Any, *__: Any) -> Difference | None:
        return None if first == second else Difference(None, first, second)

    return observation_diff.paths_difference(*sides, group, kind, NAMES) or observation_diff.values_verdict(
        *sides, (None, None), group, kind, compare, NAMES
    )


def no_reference(reference: Reference | None) -> str:
    """The reason why a reference cannot decide anything; empty where it can."""
    if reference is None:
        return "there is no reference"
    return reference.data_dependent or reference.unknown


def _class_verdict(before: Raised, after: Raised, number: int, where: str) -> Verdict | None:
    """Compare exceptions of the seed's own ``raise`` statements, whose class is part of the program's meaning."""
    if after.origin != "program" or after.out_of_memory:
        return _only_compiled_raises(after, number, where)
    if before.type == after.type:
        return None
    message = f"{where}: eager raises {before.type} and compiled raises {after.type}: {after.message}"
    evidence = Evidence(call=number, eager=before.type, compiled=after.type, frames=after.frames)
    return Verdict(VerdictKind.EXCEPTION_MISMATCH, message, evidence)


def _only_compiled_raises(after: Raised, number: int, where: str) -> Verdict:
    """The verdict where only the compiled program raises."""
    return Verdict(_kind_of(after), f"{where}: {_raised_in_words(after)}", Evidence(call=number, frames=after.frames))


def _kind_of(raised: Raised) -> VerdictKind:
    if raised.out_of_memory:
        return VerdictKind.OUT_OF_MEMORY
    kinds = {"unsupported": VerdictKind.UNSUPPORTED, "compiler": VerdictKind.COMPILER_CRASH}
    return kinds.get(raised.origin, VerdictKind.EXCEPTION_MISMATCH)


def _raised_in_words(raised: Raised) -> str:
    where = {"unsupported": "the compiler refuses with", "compiler": "the compiler fails with"}
    return f"{where.get(raised.origin, 'only compiled raises')} {raised.type}: {raised.message}"
