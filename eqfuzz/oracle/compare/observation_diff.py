"""Going through two observations side by side: calls, groups of leaves, leaves; the first difference as a verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from eqfuzz.oracle.compare.leaf_comparison import Difference, metadata_difference, strides_difference
from eqfuzz.oracle.compare.verdict import Evidence, Verdict, VerdictKind
from eqfuzz.oracle.observe.observation import CallObservation, Observation
from eqfuzz.oracle.reference.reference import LeafReference, Reference

Names = tuple[str, str]
"""What the two sides are called in messages: ``("eager", "compiled")``."""

NOTHING = "nothing"
"""How something is built that is not there."""

Compare = Callable[[str, Any, Any, LeafReference | None, LeafReference | None], Difference | None]
"""Compares two values of one leaf: its group, both values, what the two references know."""


def padded(first: Observation, second: Observation) -> Iterator[tuple[CallObservation | None, CallObservation | None]]:
    """Calls side by side; None where one observation ended earlier (after its exception)."""
    for number in range(max(len(first.calls), len(second.calls))):
        pair = [side.calls[number] if number < len(side.calls) else None for side in (first, second)]
        yield pair[0], pair[1]


def finished(first: Observation, second: Observation) -> Iterator[tuple[int, CallObservation, CallObservation]]:
    """Calls that both sides finished and that could be read.

    One that raised is left out: how far each came before it is not promised.
    """
    for number, (one, other) in enumerate(zip(first.calls, second.calls, strict=False)):
        if one.raised is None and other.raised is None and not (one.unread or other.unread):
            yield number, one, other


def call_name(number: int, call: CallObservation | None) -> str:
    """``call 2 (new values)``."""
    return f"call {number} ({call.label})" if call is not None and call.label else f"call {number}"


def unread_difference(first: Observation, second: Observation, kind: VerdictKind, names: Names) -> Verdict | None:
    """The first call whose results only one side can be asked for."""
    for number, (one, other) in enumerate(zip(first.calls, second.calls, strict=False)):
        if one.raised is None and other.raised is None and bool(one.unread) != bool(other.unread):
            name, why = (names[0], one.unread) if one.unread else (names[1], other.unread)
            message = f"{call_name(number, one)}: what {name} leaves cannot be read: {why}"
            return Verdict(kind, message, Evidence(call=number, path="output"))
    return None


def structure_difference(first: Observation, second: Observation, kind: VerdictKind, names: Names) -> Verdict | None:
    """The first call whose returned containers or leaves are of other types, lengths or keys, or in another order."""
    for number, one, other in finished(first, second):
        if one.structure != other.structure:
            message = f"{names[0]} returns {one.structure} and {names[1]} returns {other.structure}"
            return _built_otherwise(number, one, "output", (one.structure, other.structure), kind, message)
    return None


def left_otherwise(first: Observation, second: Observation, kind: VerdictKind, names: Names) -> Verdict | None:
    """The same of what a call leaves behind in arguments, attributes and globals; some may be on one side only."""
    for number, one, other in finished(first, second):
        left, right = dict(one.structures), dict(other.structures)
        for path in {**left, **right}:
            built = left.get(path, NOTHING), right.get(path, NOTHING)
            if built[0] != built[1]:
                message = f"{path}: {names[0]} leaves {built[0]} behind and {names[1]} leaves {built[1]}"
                return _built_otherwise(number, one, path, built, kind, message)
    return None


def _built_otherwise(
    number: int, call: CallObservation, path: str, built: tuple[str, str], kind: VerdictKind, message: str
) -> Verdict:
    evidence = Evidence(call=number, path=f"structure({path})", eager=built[0], compiled=built[1])
    return Verdict(kind, f"{call_name(number, call)}: {message}", evidence)


def paths_difference(
    first: Observation, second: Observation, group: str, kind: VerdictKind, names: Names
) -> Verdict | None:
    """The first call after which ``group`` holds other paths on the two sides."""
    for number, one, other in finished(first, second):
        paths = [[path for path, _ in getattr(call, group)] for call in (one, other)]
        if paths[0] != paths[1]:
            odd = sorted(set(paths[0]) ^ set(paths[1]))[:3] or paths[0][:3]
            message = f"{names[0]} and {names[1]} do not leave the same things behind: {', '.join(odd)}"
            return Verdict(kind, f"{call_name(number, one)}: {message}", Evidence(call=number, path=odd[0]))
    return None


def metadata_verdict(
    first: Observation, second: Observation, group: str, kind: VerdictKind, names: Names, *, strict: bool
) -> Verdict | None:
    """The first leaf of ``group`` whose dtype, shape, device or type differs; ``strict`` adds ``requires_grad``."""
    return _in_words(first, second, group, kind, names, partial(metadata_difference, strict=strict))


def strides_verdict(
    first: Observation, second: Observation, group: str, kind: VerdictKind, names: Names
) -> Verdict | None:
    """The first leaf of ``group`` whose strides differ; all other metadata must have been found equal."""
    return _in_words(first, second, group, kind, names, strides_difference)


def _in_words(
    first: Observation,
    second: Observation,
    group: str,
    kind: VerdictKind,
    names: Names,
    differ: Callable[[Any, Any], str],
) -> Verdict | None:
    for number, one, other in finished(first, second):
        for (path, left), (_, right) in zip(getattr(one, group), getattr(other, group), strict=True):
            words = differ(left, right)
            if words:
                words = words.replace("the first", names[0]).replace("the second", names[1])
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
    """The first leaf of ``group`` that ``compare`` finds wrong, else the first it is unsure of, else None."""
    unsure: Verdict | None = None
    for number, one, other in finished(first, second):
        known = [_leaf_references(reference, number, group) for reference in references]
        for (path, before), (_, after) in zip(getattr(one, group), getattr(other, group), strict=True):
            found = compare(group, before, after, known[0].get(path), known[1].get(path))
            if found is None:
                continue
            verdict = _verdict(found, kind, number, one, path, names)
            if not found.unsure:
                return verdict
            unsure = unsure or verdict
    return unsure


def lines_difference(first: Observation, second: Observation, group: str, names: Names) -> Verdict | None:
    """The first line of text that differs in ``group``, printed lines or warnings."""
    for number, one, other in finished(first, second):
        left, right = getattr(one, group), getattr(other, group)
        if left != right:
            return Verdict(
                VerdictKind.WRONG_SIDE_EFFECT,
                f"{call_name(number, one)}: {group} line {_first_odd(left, right)}: "
                f"{_quoted(left, right, names[0])} and {_quoted(right, left, names[1])}",
                Evidence(call=number, path=group, eager="\n".join(left)[:500], compiled="\n".join(right)[:500]),
            )
    return None


def _first_odd(left: Sequence[str], right: Sequence[str]) -> int:
    pairs = enumerate(zip(left, right, strict=False))
    return next((number for number, (a, b) in pairs if a != b), min(len(left), len(right)))


def _quoted(lines: Sequence[str], others: Sequence[str], name: str) -> str:
    place = _first_odd(lines, others)
    return f"{name} has {lines[place][:80]!r}" if place < len(lines) else f"{name} has none"


def _verdict(
    found: Difference, kind: VerdictKind, number: int, call: CallObservation, path: str, names: Names
) -> Verdict:
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
    where = call_name(number, call)
    place = f"{path}{list(found.index)}" if found.index else path
    values = f"{names[0]} gives {_short(found.first)} and {names[1]} gives {_short(found.second)}"
    if found.unsure:
        return Verdict(VerdictKind.INCONCLUSIVE, f"{where}: {place}: {values}, but {found.unsure}", evidence)
    tail = ""
    if found.reference is not None:
        tail = f"; reference {_short(found.reference)}, allowed distance {found.allowed or 0.0:.3g}"
    count = f"; {found.wrong} of {found.elements} elements are wrong"
    return Verdict(kind, f"{where}: {place}: {values}{tail}{count}", evidence)


def _short(value: Any) -> str:
    return f"{value:.9g}" if isinstance(value, float) else str(value)[:80]


def _leaf_references(reference: Reference | None, number: int, group: str) -> dict[str, LeafReference]:
    if reference is None or number >= len(reference.calls):
        return {}
    return dict(getattr(reference.calls[number], group))
