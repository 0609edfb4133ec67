"""What is observed of one cell: everything that two runs of equal programs must share."""

from __future__ import annotations

import dataclasses
from typing import Any


@dataclasses.dataclass(frozen=True)
class Raised:
    """An exception that left the program.

    ``origin`` says who raised it: ``program`` (the seed's own Python or an eager operator), ``compiler``
    (Dynamo, AOTAutograd, Inductor or the C++ compiler broke down) or ``unsupported`` (the compiler says in plain
    words that it does not do this). ``out_of_memory`` is set for failed allocations, ``by_statement`` when a ``raise``
    or ``assert`` of the seed's own Python raised it (only then must the class agree). ``frames`` are the innermost
    functions of torch that it passed, ``module.function``, the innermost first.
    """

    type: str
    message: str
    origin: str
    out_of_memory: bool = False
    traceback: str = ""
    by_statement: bool = False
    frames: tuple[str, ...] = ()


Leaves = list[tuple[str, Any]]
"""``(path, value)`` pairs in a fixed order; paths are Python expressions, tensors are detached copies."""


VALUES = ("outputs", "inputs_after", "state_after", "globals_after", "gradients")
"""The fields of a call whose leaves are values, gravest first."""


@dataclasses.dataclass
class CallObservation:
    """What one call did.

    ``label`` says what is special about the call. ``structure`` names the types of the returned containers, and
    ``structures`` those of what else may be changed, by path: arguments, attributes, globals. ``traits``
    are facts about outputs that a detached copy loses (``output.is_leaf``); ``shared`` tells which outputs share memory
    with what; ``globals_after`` are the plain globals of the program's module; ``printed`` and ``warned`` are lines;
    ``generators`` are digests of the random states afterwards. ``unread`` says what happened where reading all this
    broke down.
    """

    label: str = ""
    outputs: Leaves = dataclasses.field(default_factory=list)
    structure: str = ""
    structures: Leaves = dataclasses.field(default_factory=list)
    traits: Leaves = dataclasses.field(default_factory=list)
    shared: Leaves = dataclasses.field(default_factory=list)
    inputs_after: Leaves = dataclasses.field(default_factory=list)
    state_after: Leaves = dataclasses.field(default_factory=list)
    globals_after: Leaves = dataclasses.field(default_factory=list)
    printed: list[str] = dataclasses.field(default_factory=list)
    warned: list[str] = dataclasses.field(default_factory=list)
    generators: Leaves = dataclasses.field(default_factory=list)
    gradients: Leaves = dataclasses.field(default_factory=list)
    raised: Raised | None = None
    unread: str = ""


@dataclasses.dataclass
class Observation:
    """One cell: the same callable called in order. ``seconds`` is wall time of all calls."""

    calls: list[CallObservation]
    seconds: float = 0.0

    def first(self, count: int) -> Observation:
        """The first ``count`` calls alone."""
        return Observation(self.calls[:count], self.seconds)
