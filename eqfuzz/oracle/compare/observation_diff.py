"""Two observations compared call by call and leaf by leaf; the first difference as a verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from eqfuzz.oracle.compare.leaf_comparison import Difference
from eqfuzz.oracle.compare.leaf_metadata import metadata_difference, strides_difference
from eqfuzz.oracle.compare.verdict import Evidence, Verdict, VerdictKind
from eqfuzz.oracle.observe.observation import CallObservation, Observation
from eqfuzz.oracle.reference.reference import LeafReference, Reference

Names = tuple[str, str]
"""The names of the two sides in messages, such as ``("eager", "compiled")``."""

NOTHING = "nothing"
"""The structure of a value that does not exist on one side."""

_LINES = {"printed": "printed line", "warned": "warning"}

Compare = Callable[[str, Any, Any, LeafReference | None, LeafReference | None], Difference | None]
"""Compares two values of one leaf. Arguments: its group, both values, the leaf's reference in both references."""


def padded(first: Observation, second: Observation) -> Iterator[tuple[CallObservation | None, CallObservation | None]]:
    """Calls side by side; None where one observation ended earlier (after its exception)."""
    for number in range(max(len(first.calls), len(second.calls))):
        pair = [side.calls[number] if number < len(side.calls) else None for side in (first, second)]
        yield pair[0], pair[1]


def finished(first: Observation, second: Observation) -> Iterator[tuple[int, CallObservation, CallObservation]]:
    """Calls that both sides completed and whose results could be read, with their numbers.

    Calls that raised are left out: what a program does before an exception is not specified.
    """
    for number, (one, other) in enumerate(zip(first.calls, second.calls, strict=False)):
        if one.raised is None and other.raised is None and not (one.unread or other.unread):
            yield number, one, other


def call_name(number: int, call: CallObservation | None) -> str:
    """``call 2 (new values)``."""
    return f"call {number} ({call.label})" if call is not None and call.label else f"call {number}"


def unread_difference(first: Observation, second: Observation, kind: VerdictKind, names: Names) -> Verdict | None:
    """The first call whose results can be read on one side only."""
    for number, (one, other) in enumerate(zip(first.calls, second.calls, strict=False)):
        if one.raised is None and other.raised is None and bool(one.unread) != bool(other.unread):
            name, why = (names[0], one.unread) if one.unread else (names[1], other.unread)
            message = f"{call_name(number, one)}: the results of {name} cannot be read: {why}"
            return Verdict(kind, message, Evidence(call=number, path="output"))
    return None


def structure_difference(first: Observation, second: Observation, kind: VerdictKind, names: Names) -> Verdict | None:
    """The first call whose returned containers or leaves differ in types, lengths, keys or their order."""
    for number, one, other in finished(first, second):
        if one.structure != other.structure:
            message = f"{names[0]} returns {one.structure} and {names[1]} returns {other.structure}"
            return _structure_verdict(number, one, "output", (one.structure, other.structure), kind, message)
    return None


def side_effect_structure_difference(
    first: Observation, second: Observation, kind: VerdictKind, names: Names
) -> Verdict | None:
    """The same for arguments, attributes and globals after a call; some may exist on one side only."""
    for number, one, other in finished(first, second):
        left, right = dict(one.structures), dict(other.structures)
        for path in {**left, **right}:
            pair = left.get(path, NOTHING), right.get(path, NOTHING)
            if pair[0] != pair[1]:
                message = f"{path}: after the call it is {pair[0]} in {names[0]} and {pair[1]} in {names[1]}"
                return _structure_verdict(number, one, path, pair, kind, message)
    return None


def _structure_verdict(
    number: int, call: CallObservation, path: str, pair: tuple[str, str], kind: VerdictKind, message: str
) -> Verdict:
    evidence = Evidence(call=number, path=f"structure({path})", eager=pair[0], compiled=pair[1])
    return Verdict(kind, f"{call_name(number, call)}: {message}", evidence)


def paths_difference(
    first: Observation, second: Observation, group: str, kind: VerdictKind, names: Names
) -> Verdict | None:
    """The first call after which ``group`` has different paths on the two sides."""
    for number, one, other in finished(first, second):
        paths = [[path for path, _ in getattr(call, group)] for call in (one, other)]
        if paths[0] != paths[1]:
            unmatched = sorted(set(paths[0]) ^ set(paths[1]))[:3] or paths[0][:3]
            message = f"{call_name(number, one)}: {_unmatched_in_words(unmatched, paths, names)}"
            return Verdict(kind, message, Evidence(call=number, path=unmatched[0]))
    return None


def _unmatched_in_words(unmatched: list[str], paths: list[list[str]], names: Names) -> str:
    only = [[path for path in unmatched if path in own and path not in other] for own, other in (paths, paths[::-1])]
    words = [f"only {name} has {', '.join(missing)}" for name, missing in zip(names, only, strict=True) if missing]
    return "; ".join(words) or f"{names[0]} and {names[1]} have {', '.join(unmatched)} in another order"


def metadata_verdict(
    first: Observation, second: Observation, group: str, kind: VerdictKind, names: Names, *, strict: bool
) -> Verdict | None:
    """The first leaf of ``group`` whose dtype, shape, device or type differs; ``strict`` adds ``requires_grad``."""
    differ = partial(metadata_difference, names=names, strict=strict)
    return _metadata_verdict(first, second, group, kind, differ)


def strides_verdict(
    first: Observation, second: Observation, group: str, kind: VerdictKind, names: Names
) -> Verdict | None:
    """The first leaf of ``group`` whose strides differ; all other metadata must be equal."""
    return _metadata_verdict(first, second, group, kind, partial(strides_difference, names=names))


def _metadata_verdict(
    first: Observation, second: Observation, group: str, kind: VerdictKind, differ: Callable[[Any, Any], str]
) -> Verdict | None:
    for number, one, other in finished(first, second):
        for (path, left), (_, right) in zip(getattr(one, group), getattr(other, group), strict=True):
            words = differ(left, right)
            if words:
                message = f"{call_name(number, one)}: {path}: {words}"
                return Verdict(kind, message, Evidence(call=number, path=path))
    return None


def values_verdict(
    first: Observation,
    second: Observation,
    references: tuple[Reference | None, Reference | None],
    group: str,
    kind: VerdictKind,
    compare: Compare,
    names: Names,
) -> Verdict | None:
    """The first leaf of ``group`` that ``compare`` finds wrong, else the first inconclusive one, else None."""
    inconclusive: Verdict | None = None
    for number, one, other in finished(first, second):
        leaf_references = [_leaf_references(reference, number, group) for reference in references]
        for (path, before), (_, after) in zip(getattr(one, group), getattr(other, group), strict=True):
            difference = compare(
                group, before, after, *(leaf_reference.get(path) for leaf_reference in leaf_references)
            )
            if difference is None:
                continue
            verdict = _values_verdict(difference, kind, number, one, path, names)
            if not difference.inconclusive:
                return verdict
            inconclusive = inconclusive or verdict
    return inconclusive


def lines_difference(first: Observation, second: Observation, group: str, names: Names) -> Verdict | None:
    """The first line of text in ``group`` (printed lines or warnings) that differs."""
    for number, one, other in finished(first, second):
        left, right = getattr(one, group), getattr(other, group)
        if left != right:
            return Verdict(
                VerdictKind.WRONG_SIDE_EFFECT,
                f"{call_name(number, one)}: {_LINES[group]} {_first_unequal(left, right)} is "
                f"{_quoted(left, right)} in {names[0]} and {_quoted(right, left)} in {names[1]}",
                Evidence(call=number, path=group, eager="\n".join(left)[:500], compiled="\n".join(right)[:500]),
            )
    return None


def _first_unequal(left: Sequence[str], right: Sequence[str]) -> int:
    pairs = enumerate(zip(left, right, strict=False))
    return next((number for number, (a, b) in pairs if a != b), min(len(left), len(right)))


def _quoted(lines: Sequence[str], others: Sequence[str]) -> str:
    place = _first_unequal(lines, others)
    return repr(lines[place][:80]) if place < len(lines) else "missing"


def _values_verdict(
    difference: Difference, kind: VerdictKind, number: int, call: CallObservation, path: str, names: Names
) -> Verdict:
    element = f"{path}{list(difference.index)}" if difference.index else path
    message = f"{call_name(number, call)}: {element}: {difference.describe(names)}"
    kind = VerdictKind.INCONCLUSIVE if difference.inconclusive else kind
    return Verdict(kind, message, evidence_of(difference, number, path))


def evidence_of(difference: Difference, call: int = 0, path: str = "") -> Evidence:
    """The numbers of a difference in the leaf ``path`` of a call."""
    return Evidence(
        call=call,
        path=path,
        index=difference.index,
        eager=difference.first,
        compiled=difference.second,
        reference=difference.reference,
        allowed=difference.allowed,
        wrong_elements=difference.wrong,
        elements=difference.elements,
        unstable_elements=difference.unstable,
        error_map=difference.error_map,
    )


def _leaf_references(reference: Reference | None, number: int, group: str) -> dict[str, LeafReference]:
    if reference is None or number >= len(reference.calls):
        return {}
    return dict(getattr(reference.calls[number], group))
