"""Events of ``eqfuzz generate opinfo``, and of the sweep that it makes with ``--run``."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from eqfuzz.events.event import Event


@dataclasses.dataclass(frozen=True, kw_only=True)
class CatalogueStarted(Event):
    """The catalogue is about to be read."""

    name: ClassVar[str] = "catalogue"

    catalogue: str
    """What is read: ``opinfo``, ``modules``, ``optimizers`` or ``numpy``."""
    seed: int
    """The random seed."""
    operators: int
    """Number of operators, modules, optimizers or functions."""
    dtypes: list[str]
    """Requested dtypes of operands."""
    pairs: int
    """Number of pairs of an operator and a dtype that eager supports."""
    earlier: int
    """Number of pairs that an earlier call has read."""
    out: str
    """Folder of the call."""
    versions: dict[str, str]
    """Version by package, see ``versions``."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class OperatorRead(Event):
    """The samples of an operator for a dtype were written as results of programs."""

    name: ClassVar[str] = "operator"

    operator: str
    """Name of the operator."""
    dtype: str
    """Dtype of the operands that the samples are for."""
    samples: int
    """Number of samples."""
    repeats: int
    """Number of samples that differ from an earlier one in values only."""
    results: int
    """Number of results."""
    draws: int
    """Number of results that draw random numbers."""
    left_out: dict[str, int]
    """Number of the other samples by the reason why they have no result."""
    without_gradient: int
    """Number of results without the gradients that eager has."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class CatalogueSummary(Event):
    """The programs were written, unless the call was interrupted. Counts are over all operators and dtypes."""

    name: ClassVar[str] = "summary"

    samples: int
    """Number of samples."""
    repeats: int
    """Number of samples that differ from an earlier one in values only."""
    results: int
    """Number of results."""
    programs: int
    """Number of programs."""
    drawing: list[str]
    """Names of the operators that draw random numbers."""
    left_out: dict[str, dict[str, int]]
    """Number of samples without a result by reason and operator, the most frequent reason first."""
    without_gradient: int
    """Number of results without the gradients that eager has."""
    interrupted: bool
    """Whether Ctrl-C ended it."""
    seconds: float
    """Wall seconds."""
    out: str
    """Folder of the call."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class SweepStarted(Event):
    """The programs are about to be compiled."""

    name: ClassVar[str] = "sweep"

    programs: int
    """Number of programs."""
    earlier: int
    """Number of programs that an earlier call has judged."""
    config: str
    """Name of the compile configuration."""
    jobs: int
    """Programs judged at once."""
    out: str
    """Folder of the call."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class ProgramSwept(Event):
    """Every result of a program was judged."""

    name: ClassVar[str] = "program"

    program: str
    """Name of the program."""
    outcomes: dict[str, int]
    """Number of results by outcome."""
    different: list[str]
    """New differences, one line each."""
    seconds: float
    """Wall seconds."""
    cpu_seconds: float
    """CPU seconds."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class SweepSummary(Event):
    """The sweep is complete, or was ended early. Counts include those of earlier calls."""

    name: ClassVar[str] = "summary"

    samples: int
    """Number of samples of the catalogue."""
    repeats: int
    """Number of samples that differ from an earlier one in values only."""
    results: int
    """Number of samples that are results of programs."""
    judged: int
    """Number of results that were judged."""
    left_out: dict[str, dict[str, int]]
    """Number of samples without a result by reason and operator."""
    without_gradient: int
    """Number of results without the gradients that eager has."""
    drawing: list[str]
    """Names of the operators that draw random numbers."""
    outcomes: dict[str, dict[str, int]]
    """Number of judged results by outcome, and by dtype, with the device where that is not the CPU."""
    findings: int
    """Number of findings that are no known issue."""
    interrupted: bool
    """Whether Ctrl-C ended it."""
    out_of_time: bool
    """Whether the time limit ended it."""
    seconds: float
    """Wall seconds of this call."""
    cpu_seconds: float
    """CPU seconds of all programs."""
    out: str
    """Folder of the call."""
