"""Events of ``eqfuzz seeds import``, ``seeds check`` and ``seeds select``."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from eqfuzz.events.event import Event
from eqfuzz.program.pools.structure import ProgramStructure


@dataclasses.dataclass(frozen=True, kw_only=True)
class SeedsStarted(Event):
    """First event: so many models or seeds are imported or checked."""

    name: ClassVar[str] = "start"

    count: int


@dataclasses.dataclass(frozen=True, kw_only=True)
class SeedTakenUp(Event):
    """A model or seed is taken up."""

    name: ClassVar[str] = "seed-start"

    index: int
    path: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class ModelImported(Event):
    """A model is imported.

    Attributes:
        index: Its number.
        path: Its file, or ``package.module:Class``.
        seed: The file that was written.
        weights: The file with weights beside the seed; empty where it has none.
        operators: Operators of an ONNX model with their counts.
        definitions: So many definitions were gathered for a Python class.
        modules: The modules that they come from.
        problem: Why the model cannot be imported; empty: it was.
    """

    name: ClassVar[str] = "import"

    index: int
    path: str
    seed: str = ""
    weights: str = ""
    operators: dict[str, int] = dataclasses.field(default_factory=dict)
    definitions: int = 0
    modules: tuple[str, ...] = ()
    problem: str = ""


@dataclasses.dataclass(frozen=True, kw_only=True)
class SeedChecked(Event):
    """A seed has run in eager, on so many input sets; ``problem`` says why it is no seed; empty: it is one."""

    name: ClassVar[str] = "seed"

    index: int
    path: str
    format: str = ""
    input_sets: int = 0
    problem: str = ""


@dataclasses.dataclass(frozen=True, kw_only=True)
class SeedStructureRead(Event):
    """A seed has run in eager, and has this ``structure``; ``problem`` says why it is no seed; empty: it is one."""

    name: ClassVar[str] = "structure"

    index: int
    path: str
    structure: ProgramStructure = dataclasses.field(default_factory=ProgramStructure)
    problem: str = ""


@dataclasses.dataclass(frozen=True, kw_only=True)
class SeedsSelected(Event):
    """The seeds at ``paths`` are in the ``pool``; they were copied to the folder ``out``, empty: they were not."""

    name: ClassVar[str] = "selection"

    pool: str
    paths: list[str]
    out: str = ""


@dataclasses.dataclass(frozen=True, kw_only=True)
class SeedsSummary(Event):
    """Last event; ``failed`` are the paths of the models or seeds with a problem."""

    name: ClassVar[str] = "summary"

    done: int
    failed: list[str]
    interrupted: bool
    seconds: float
