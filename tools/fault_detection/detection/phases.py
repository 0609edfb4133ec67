"""Phases of a detection run: which programs run under which backend, for which share of the time."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from tools.fault_detection.corpus.corpus import Entry

PhaseProgram = tuple[str, str]
"""The name of a phase, and the path of a program that it runs."""


@dataclasses.dataclass(frozen=True)
class Phase:
    """A part of a detection run, by its ``name``: programs compiled under the configuration ``config``.

    ``share`` is the largest share of the time left that it may use; ``steps`` and ``input_sets`` are those of
    ``eqfuzz mutate``; ``seeds_only`` leaves variants and programs of catalogues out. With ``graphs_first`` programs are
    compiled to code only where their graphs differ from eager, and programs that eager refuses have no graphs to judge.
    """

    name: str
    config: str
    steps: int
    input_sets: int
    share: float
    seeds_only: bool
    graphs_first: bool = False

    def programs(self, entries: Sequence[Entry]) -> list[Entry]:
        """The entries that it runs, in order.

        The phase for guards begins with those that have most state to guard, that for aliasing has those that write to
        arguments.
        """
        chosen = [entry for entry in entries if not (self.seeds_only and (entry.rules or entry.program))]
        if self.graphs_first:
            chosen = [entry for entry in chosen if entry.program is None or not entry.program.is_refused]
        match self.name:
            case "guards":
                return sorted(chosen, key=lambda entry: -entry.state)
            case "aliasing":
                return sorted((entry for entry in chosen if entry.has_writes), key=lambda entry: entry.size)
            case _:
                return chosen

    def key(self, entry: Entry) -> PhaseProgram:
        return self.name, str(entry.path)


PHASES = (
    # Guards are Dynamo's, and cheapest without the rest of the compiler.
    Phase("guards", "eager", 24, 0, 0.15, seeds_only=True),
    # A lost guard on aliasing shows only where AOTAutograd has made writes functional. The first steps alias arguments.
    Phase("aliasing", "aot_eager", 2, 0, 0.1, seeds_only=True),
    # A tenth of the cost, and all that comes before lowering.
    Phase("graphs", "inductor", 0, 1, 0.5, seeds_only=False, graphs_first=True),
    Phase("programs", "inductor", 0, 1, 0.9, seeds_only=False),
    Phase("sequences", "inductor", 1, 0, 1.0, seeds_only=True),
)

DYNAMO_SHARE = 0.7
"""Share of the phase for guards where the fault is in Dynamo's code."""
