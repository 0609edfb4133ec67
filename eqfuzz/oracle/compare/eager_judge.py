"""Comparison of eager runs: an original with its rewrite, and a program with itself."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

from eqfuzz.oracle.compare import observation_diff
from eqfuzz.oracle.compare.leaf_comparison import (
    Difference,
    against_reference,
    between_two,
    zero_sign_difference,
)
from eqfuzz.oracle.compare.oracles import no_reference
from eqfuzz.oracle.compare.verdict import Evidence, Verdict, VerdictKind
from eqfuzz.oracle.observe.leaf_values import identical
from eqfuzz.oracle.observe.observation import VALUES, Observation
from eqfuzz.oracle.reference.reference import LeafReference, Reference

_GLOBAL = re.compile(r"^(globals\(\)\['\w+'\]).*$")


def judge_rewrite(
    eager_p: Observation,
    eager_q: Observation,
    reference_p: Reference | None,
    reference_q: Reference | None,
    exactness: str,
    *,
    gradients: bool = True,
) -> Verdict:
    """Compare an original with its rewrite, both in eager: a difference means a wrong rule (or a wrong eager kernel).

    ``exactness`` is ``bitwise``, ``ulp`` or ``real``. ``gradients``: the rules keep gradients; otherwise these are not
    compared. Raises ValueError for another exactness.
    """
    if exactness not in {"bitwise", "ulp", "real"}:
        raise ValueError(f"unknown exactness {exactness!r}: expected 'bitwise', 'ulp' or 'real'")
    names = ("the original", "the rewrite")
    for number, (first, second) in enumerate(observation_diff.padded(eager_p, eager_q)):
        raised = [None if call is None else call.raised for call in (first, second)]
        if (raised[0] is None) != (raised[1] is None):
            which, error = (names[0], raised[0]) if raised[0] is not None else (names[1], raised[1])
            assert error is not None
            call = observation_diff.call_name(number, first or second)
            message = f"{call}: only {which} raises {error.type}: {error.message}"
            return Verdict(VerdictKind.SUSPECT_RULE, message, Evidence(call=number))
    reason = no_reference(reference_p) or no_reference(reference_q)

    def compare(
        group: str, first: Any, second: Any, left: LeafReference | None, right: LeafReference | None
    ) -> Difference | None:
        if group == "gradients" and not gradients:
            return None
        if exactness == "bitwise" and group != "gradients":
            if identical(first, second, signed_zero=True):
                return None
            return _exact_difference(first, second)
        return between_two(first, second, None if reason else left, None if reason else right, reason)

    references = reference_p, reference_q
    eager_q = _without_new_globals(eager_p, eager_q)
    return _side_by_side(eager_p, eager_q, references, VerdictKind.SUSPECT_RULE, compare, names, strict=False)


def _without_new_globals(original: Observation, rewrite: Observation) -> Observation:
    """The rewrite's observation without globals that only it has: a rewrite may add a constant or a counter."""
    names = {_GLOBAL.sub(r"\1", path) for call in original.calls for path, _ in call.structures}

    def is_shared(path: str) -> bool:
        return not _GLOBAL.match(path) or _GLOBAL.sub(r"\1", path) in names

    calls = [
        dataclasses.replace(
            call,
            globals_after=[(path, leaf) for path, leaf in call.globals_after if is_shared(path)],
            structures=[(path, structure) for path, structure in call.structures if is_shared(path)],
        )
        for call in rewrite.calls
    ]
    return dataclasses.replace(rewrite, calls=calls)


def judge_self(first: Observation, second: Observation) -> Verdict:
    """Compare two eager runs of one program, which must be equal bit for bit."""
    names = ("one run", "another run")
    for number, (one, other) in enumerate(observation_diff.padded(first, second)):
        raised = [None if call is None or call.raised is None else call.raised.type for call in (one, other)]
        if raised[0] != raised[1]:
            message = f"non-deterministic: call {number} raises {raised[0] or 'nothing'} in {names[0]} and "
            return Verdict(
                VerdictKind.INVALID_SEED, message + f"{raised[1] or 'nothing'} in {names[1]}", Evidence(call=number)
            )
    verdict = _side_by_side(first, second, (None, None), VerdictKind.INVALID_SEED, _bit_for_bit, names, strict=True)
    if verdict.kind is VerdictKind.AGREE:
        return verdict
    return Verdict(verdict.kind, f"non-deterministic: {verdict.message}", verdict.evidence)


def _bit_for_bit(group: str, first: Any, second: Any, left: Any, right: Any) -> Difference | None:
    return None if identical(first, second, signed_zero=True) else _exact_difference(first, second)


def _exact_difference(first: Any, second: Any) -> Difference:
    """The worst element of two values that are not identical."""
    return against_reference(first, second, None, "") or zero_sign_difference(first, second)


def _side_by_side(
    first: Observation,
    second: Observation,
    references: tuple[Reference | None, Reference | None],
    kind: VerdictKind,
    compare: observation_diff.Compare,
    names: observation_diff.Names,
    *,
    strict: bool,
) -> Verdict:
    """Compare types and printed lines, then the values of every group; inconclusive only where nothing is wrong."""
    verdict = observation_diff.unread_difference(first, second, kind, names)
    verdict = verdict or observation_diff.structure_difference(first, second, kind, names)
    verdict = verdict or observation_diff.side_effect_structure_difference(first, second, kind, names)
    for group in VALUES:
        verdict = verdict or observation_diff.paths_difference(first, second, group, kind, names)
        verdict = verdict or observation_diff.metadata_verdict(
            first, second, group, kind, names, strict=strict and group == "outputs"
        )
    if strict:
        verdict = verdict or observation_diff.strides_verdict(first, second, "outputs", kind, names)
    verdict = verdict or _printed(first, second, kind, names)
    if verdict is not None:
        return verdict
    inconclusive: Verdict | None = None
    for group in VALUES:
        verdict = observation_diff.values_verdict(first, second, references, group, kind, compare, names)
        if verdict is not None and verdict.kind is not VerdictKind.INCONCLUSIVE:
            return verdict
        inconclusive = inconclusive or verdict
    return inconclusive or Verdict(VerdictKind.AGREE, f"{names[0]} and {names[1]} agree")


def _printed(
    first: Observation, second: Observation, kind: VerdictKind, names: observation_diff.Names
) -> Verdict | None:
    verdict = observation_diff.lines_difference(first, second, "printed", names)
    return None if verdict is None else Verdict(kind, verdict.message, verdict.evidence)
