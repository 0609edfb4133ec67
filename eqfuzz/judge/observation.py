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
    or ``assert`` of the seed's own Python raised it (only then must the class agree).
    """

    type: str
    message: str
    origin: str
    out_of_memory: bool = False
    traceback: str = ""
    by_statement: bool = False


@dataclasses.dataclass
class CallObservation:
    """What one call did. Leaves are ``(path, value)`` pairs in a fixed order; tensors stay tensors (detached)."""

    outputs: list[tuple[str, Any]] = dataclasses.field(default_factory=list)
    structure: str = ""
    inputs_after: list[tuple[str, Any]] = dataclasses.field(default_factory=list)
    state_after: list[tuple[str, Any]] = dataclasses.field(default_factory=list)
    gradients: list[tuple[str, Any]] = dataclasses.field(default_factory=list)
    raised: Raised | None = None


@dataclasses.dataclass
class Observation:
    """One cell: the same callable called once per input set, in order. ``seconds`` is wall time of all calls."""

    calls: list[CallObservation]
    seconds: float = 0.0
