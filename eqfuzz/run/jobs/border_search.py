"""Search for the border between two graphs of the compiler behind which a compiled program is wrong.

It compiles once, and once more for each step of a search among decompositions.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence

from eqfuzz.run.configs.named import Config
from eqfuzz.torch_internals.contract import BORDERS, GRAPH_PASSES, lacks
from eqfuzz.torch_internals.graph_borders import END, Border, GraphBorders, GraphHistory, Part
from eqfuzz.torch_internals.operators import OpOverload

DYNAMO = "eager"
AOT = "aot_eager"
PARTITIONER = "aot_eager_decomp_partition"
INDUCTOR = "inductor"


@dataclasses.dataclass(frozen=True)
class FirstWrong:
    """What lies before the first wrong border.

    ``backend`` is the first of torch's debugging backends that contains it, ``part`` the part of Inductor whose pass
    ``after`` changed the graph; None where graphs are all right and only code is wrong, or where no pass changed it.
    """

    backend: str
    part: Part | None = None
    after: str = ""


def has_borders(config: Config) -> bool:
    """Whether what ``config`` compiles can stop between passes."""
    return config.backend == INDUCTOR and config.threads == 1 and not any(map(lacks, (*BORDERS, *GRAPH_PASSES)))


def first_wrong(borders: GraphBorders, is_wrong: Callable[[], bool]) -> FirstWrong:
    """Run what was compiled as far as each border in turn, until ``is_wrong``."""
    histories = borders.histories

    def stops_at(part: Part, changes: int) -> bool:
        borders.stops = {number: _nearest(history, part, changes) for number, history in enumerate(histories)}
        return is_wrong()

    try:
        if stops_at(Part.CAPTURED, 0):
            return FirstWrong(DYNAMO)
        for part, before in (
            (Part.CAPTURED, ""),
            (Part.JOINT, AOT),
            (Part.FORWARD, PARTITIONER),
            (Part.BACKWARD, ""),
        ):
            if before and stops_at(part, 0):
                return FirstWrong(before)
            if stops_at(part, END):
                return FirstWrong(INDUCTOR, part, _pass_of(borders, part, is_wrong))
        return FirstWrong(INDUCTOR)
    finally:
        borders.stops = {}


def faulty_decomposition(
    operators: Sequence[OpOverload], is_right_without: Callable[[Sequence[OpOverload]], bool]
) -> OpOverload | None:
    """The one of ``operators`` without whose decomposition the program is right; None where there is no single one."""
    if not operators or not is_right_without(operators):
        return None
    while len(operators) > 1:
        half = len(operators) // 2
        operators = next(
            (part for part in (operators[:half], operators[half:]) if is_right_without(part)), operators[:0]
        )
    return operators[0] if operators else None


def _pass_of(borders: GraphBorders, part: Part, is_wrong: Callable[[], bool]) -> str:
    """The first pass of ``part`` after which a single graph makes the program wrong; empty where none does alone."""
    starts = {number: _nearest(history, part, 0) for number, history in enumerate(borders.histories)}
    for number, border, after in _changes(borders, part):
        borders.stops = {**starts, number: border}
        if is_wrong():
            return after
    return ""


def _changes(borders: GraphBorders, part: Part) -> Iterator[tuple[int, Border, str]]:
    for number, history in enumerate(borders.histories):
        for changes, snapshot in enumerate(history.graphs.get(part, ())):
            if changes:
                yield number, Border(part, changes), snapshot.after


def _nearest(history: GraphHistory, part: Part, changes: int) -> Border:
    """The border of a graph; the last one before it where the graph never came to that part."""
    if part in history.graphs:
        return Border(part, changes)
    parts = list(Part)
    earlier = next(one for one in reversed(parts[: parts.index(part)]) if one in history.graphs)
    return Border(earlier, END)
