"""The judge: what two observations of equal programs mean."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from eqfuzz.judge.compare import (
    Difference,
    against_reference,
    between_two,
    identical,
    metadata_difference,
    zero_sign_difference,
)
from eqfuzz.judge.observation import CallObservation, Observation, Raised
from eqfuzz.judge.reference import LeafReference, Reference
from eqfuzz.judge.verdict import Evidence, Kind, Verdict

_GROUPS = (
    ("outputs", Kind.WRONG_RESULT),
    ("inputs_after", Kind.WRONG_SIDE_EFFECT),
    ("state_after", Kind.WRONG_SIDE_EFFECT),
    ("gradients", Kind.WRONG_GRADIENT),
)
_Compare = Callable[[str, Any, Any, LeafReference | None, LeafReference | None], Difference | None]


def judge_compiled(eager: Observation, compiled: Observation, reference: Reference | None) -> Verdict:
    """Eager against compiled, gravest difference first: exceptions, metadata, outputs, side effects, gradients."""
    verdict = _exceptions(eager, compiled)
    if verdict is not None:
        return verdict
    verdict = _metadata(eager, compiled, Kind.WRONG_METADATA, strict=True, names=("eager", "compiled"))
    if verdict is not None:
        return verdict
    reason = _no_reference(reference)

    def compare(group: str, first: Any, second: Any, known: LeafReference | None, _: Any) -> Difference | None:
        why = reason or ("" if known is not None else "the reference run did not come this far")
        return against_reference(first, second, known, why)

    return _values(eager, compiled, reference, None, compare, ("eager", "compiled"), dict(_GROUPS))


def judge_rewrite(
    eager_p: Observation,
    eager_q: Observation,
    reference_p: Reference | None,
    reference_q: Reference | None,
    exactness: str,
    *,
    gradients: bool = True,
) -> Verdict:
    """An original against its rewrite, both in eager: unequal means a wrong rule (or a wrong eager kernel).

    ``exactness`` is ``bitwise``, ``ulp`` or ``real``; ``gradients`` says that the rules promise equal gradients, else
    these are not compared. Raises ValueError for another exactness.
    """
    if exactness not in {"bitwise", "ulp", "real"}:
        raise ValueError(f"unknown exactness {exactness!r}: expected 'bitwise', 'ulp' or 'real'")
    names = ("the original", "the rewrite")
    for number, (first, second) in enumerate(_padded(eager_p, eager_q)):
        raised = [None if call is None else call.raised for call in (first, second)]
        if (raised[0] is None) != (raised[1] is None):
            which, error = (names[0], raised[0]) if raised[0] is not None else (names[1], raised[1])
            assert error is not None
            message = f"call {number}: only {which} raises {error.type}: {error.message}"
            return Verdict(Kind.SUSPECT_RULE, message, Evidence(call=number))
    verdict = _metadata(eager_p, eager_q, Kind.SUSPECT_RULE, strict=False, names=names)
    if verdict is not None:
        return verdict
    reason = _no_reference(reference_p) or _no_reference(reference_q)

    def compare(
        group: str, first: Any, second: Any, left: LeafReference | None, right: LeafReference | None
    ) -> Difference | None:
        if group == "gradients" and not gradients:
            return None
        if exactness == "bitwise" and group != "gradients":
            if identical(first, second, signed_zero=True):
                return None
            # Only to find the place: with no reference every difference is reported at its worst element.
            found = against_reference(first, second, None, "")
            return found or zero_sign_difference(first, second)
        return between_two(first, second, None if reason else left, None if reason else right, reason)

    kinds = {group: Kind.SUSPECT_RULE for group, _ in _GROUPS}
    return _values(eager_p, eager_q, reference_p, reference_q, compare, names, kinds)


def judge_self(first: Observation, second: Observation) -> Verdict:
    """Two eager runs of one program, which must not differ in a single bit."""
    names = ("one run", "another run")
    for number, (one, other) in enumerate(_padded(first, second)):
        raised = [None if call is None or call.raised is None else call.raised.type for call in (one, other)]
        if raised[0] != raised[1]:
            message = f"non-deterministic: call {number} raises {raised[0] or 'nothing'} in {names[0]} and "
            return Verdict(
                Kind.INVALID_SEED, message + f"{raised[1] or 'nothing'} in {names[1]}", Evidence(call=number)
            )
    verdict = _metadata(first, second, Kind.INVALID_SEED, strict=True, names=names)
    if verdict is None:
        kinds = {group: Kind.INVALID_SEED for group, _ in _GROUPS}
        verdict = _values(first, second, None, None, _bit_for_bit, names, kinds)
    if verdict.kind is Kind.AGREE:
        return verdict
    return Verdict(verdict.kind, f"non-deterministic: {verdict.message}", verdict.evidence)


def _bit_for_bit(group: str, first: Any, second: Any, left: Any, right: Any) -> Difference | None:
    if identical(first, second, signed_zero=True):
        return None
    return against_reference(first, second, None, "") or zero_sign_difference(first, second)


def _exceptions(eager: Observation, compiled: Observation) -> Verdict | None:
    for number, (first, second) in enumerate(_padded(eager, compiled)):
        before = None if first is None else first.raised
        after = None if second is None else second.raised
        if after is not None and before is None:
            return Verdict(_kind_of(after), f"call {number}: {_compiled_only(after)}", Evidence(call=number))
        if before is not None and after is None:
            message = f"call {number}: eager raises {before.type}: {before.message}; compiled raises nothing"
            return Verdict(Kind.EXCEPTION_MISMATCH, message, Evidence(call=number, eager=before.type))
        if before is not None and after is not None and before.by_statement:
            verdict = _classes(before, after, number)
            if verdict is not None:
                return verdict
    return None


def _classes(before: Raised, after: Raised, number: int) -> Verdict | None:
    """The seed's own ``raise``: its class is part of what the program means."""
    if after.origin != "program" or after.out_of_memory:
        return Verdict(_kind_of(after), f"call {number}: {_compiled_only(after)}", Evidence(call=number))
    if before.type == after.type:
        return None
    message = f"call {number}: eager raises {before.type} and compiled raises {after.type}: {after.message}"
    evidence = Evidence(call=number, eager=before.type, compiled=after.type)
    return Verdict(Kind.EXCEPTION_MISMATCH, message, evidence)


def _kind_of(raised: Raised) -> Kind:
    if raised.out_of_memory:
        return Kind.OUT_OF_MEMORY
    kinds = {"unsupported": Kind.UNSUPPORTED, "compiler": Kind.COMPILER_CRASH}
    return kinds.get(raised.origin, Kind.EXCEPTION_MISMATCH)


def _compiled_only(raised: Raised) -> str:
    where = {"unsupported": "the compiler refuses with", "compiler": "the compiler fails with"}
    return f"{where.get(raised.origin, 'only compiled raises')} {raised.type}: {raised.message}"


def _metadata(
    first: Observation, second: Observation, kind: Kind, *, strict: bool, names: tuple[str, str]
) -> Verdict | None:
    for number, one, other in _finished(first, second):
        if one.structure != other.structure:
            message = f"call {number}: {names[0]} returns {one.structure} and {names[1]} returns {other.structure}"
            evidence = Evidence(call=number, path="output", eager=one.structure, compiled=other.structure)
            return Verdict(kind, message, evidence)
        for group, wrong in _GROUPS:
            paths = [[path for path, _ in getattr(call, group)] for call in (one, other)]
            if paths[0] != paths[1]:
                odd = sorted(set(paths[0]) ^ set(paths[1]))[:3] or paths[0][:3]
                message = (
                    f"call {number}: {names[0]} and {names[1]} do not leave the same things behind: {', '.join(odd)}"
                )
                chosen = kind if kind is not Kind.WRONG_METADATA else wrong
                return Verdict(chosen, message, Evidence(call=number, path=odd[0]))
            for (path, left), (_, right) in zip(getattr(one, group), getattr(other, group), strict=True):
                words = metadata_difference(left, right, strict=strict and group == "outputs")
                if words:
                    words = words.replace("the first", names[0]).replace("the second", names[1])
                    return Verdict(kind, f"call {number}: {path}: {words}", Evidence(call=number, path=path))
    return None


def _values(
    first: Observation,
    second: Observation,
    left: Reference | None,
    right: Reference | None,
    compare: _Compare,
    names: tuple[str, str],
    kinds: dict[str, Kind],
) -> Verdict:
    unsure: Verdict | None = None
    unstable = 0
    for group, _ in _GROUPS:
        for number, one, other in _finished(first, second):
            known = _leaf_references(left, number, group), _leaf_references(right, number, group)
            for (path, before), (_, after) in zip(getattr(one, group), getattr(other, group), strict=True):
                found = compare(group, before, after, known[0].get(path), known[1].get(path))
                if found is None:
                    continue
                unstable += found.unstable
                verdict = _verdict(found, kinds[group], number, path, names)
                if not found.unsure:
                    return verdict
                unsure = unsure or verdict
    return unsure or Verdict(Kind.AGREE, f"{names[0]} and {names[1]} agree")


def _verdict(found: Difference, kind: Kind, number: int, path: str, names: tuple[str, str]) -> Verdict:
    evidence = Evidence(
        call=number,
        path=path,
        index=found.index,
        eager=found.first,
        compiled=found.second,
        reference=found.reference,
        allowed=found.allowed,
        wrong_elements=found.wrong,
        elements=found.elements,
        unstable_elements=found.unstable,
    )
    place = f"{path}{list(found.index)}" if found.index else path
    values = f"{names[0]} gives {_short(found.first)} and {names[1]} gives {_short(found.second)}"
    if found.unsure:
        return Verdict(Kind.INCONCLUSIVE, f"call {number}: {place}: {values}, but {found.unsure}", evidence)
    tail = ""
    if found.reference is not None:
        tail = f"; reference {_short(found.reference)}, allowed distance {found.allowed or 0.0:.3g}"
    count = f"; {found.wrong} of {found.elements} elements are wrong"
    return Verdict(kind, f"call {number}: {place}: {values}{tail}{count}", evidence)


def _short(value: Any) -> str:
    return f"{value:.9g}" if isinstance(value, float) else str(value)[:80]


def _no_reference(reference: Reference | None) -> str:
    if reference is None:
        return "there is no reference"
    return reference.steered or reference.opaque


def _leaf_references(reference: Reference | None, number: int, group: str) -> dict[str, LeafReference]:
    if reference is None or number >= len(reference.calls):
        return {}
    return dict(getattr(reference.calls[number], group))


def _padded(first: Observation, second: Observation) -> Iterator[tuple[CallObservation | None, CallObservation | None]]:
    """Calls side by side; None where one observation ended earlier (after its exception)."""
    for number in range(max(len(first.calls), len(second.calls))):
        pair = [side.calls[number] if number < len(side.calls) else None for side in (first, second)]
        yield pair[0], pair[1]


def _finished(first: Observation, second: Observation) -> Iterator[tuple[int, CallObservation, CallObservation]]:
    """Calls that both sides finished. One that raised is left out: how far each came before it is not promised."""
    for number, (one, other) in enumerate(zip(first.calls, second.calls, strict=False)):
        if one.raised is None and other.raised is None:
            yield number, one, other
