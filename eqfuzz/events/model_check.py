"""Events of ``eqfuzz check``, beside those of the runs over the programs that use the model."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from eqfuzz.events.event import Event


@dataclasses.dataclass(frozen=True, kw_only=True)
class ModelCheckStarted(Event):
    """First event of a check."""

    name: ClassVar[str] = "check"

    model: str
    """``package.module:Name``."""
    definitions: int
    """Number of definitions that the model consists of."""
    modules: list[str]
    """Names of their modules."""
    uses: list[str]
    """What will be done with the model, in words."""
    variants: int
    """Number of rewritten variants."""
    out: str
    """Folder of the check."""
    versions: dict[str, str]
    """Version by package, see ``versions``."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class UseChecked:
    """What came of one use of the model."""

    title: str
    """The use in words."""
    outcome: str
    """``agrees``, ``differs``, ``known issue``, ``not comparable``, ``unsupported``, ``nothing compiled``, ``invalid``
    or ``not tried``.
    """
    cells: int = 0
    """Number of compiled cells that were judged."""
    graphs: int = 0
    """Number of Dynamo's graphs in them."""
    kind: str = ""
    """The verdict's kind."""
    message: str = ""
    """The verdict in one line, where it does not agree."""
    finding: str = ""
    """Id of the first finding."""
    issue: str = ""
    """Address of the known issue."""
    submodule: str = ""
    """Dotted name of the smallest submodule that differs by itself; empty where none does, or it was not looked for."""
    reduced: str = ""
    """Id of a smaller finding, a program with drawn parameters and inputs; empty for none."""
    program: str = ""
    """Text of that program."""
    unreduced: str = ""
    """Why there is no such finding, or why it is not reduced; empty where it is."""
    seconds: float = 0.0
    """CPU seconds."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class ModelCheckSummary(Event):
    """Last event of a check, also of an interrupted one."""

    name: ClassVar[str] = "checked"

    model: str
    """``package.module:Name``."""
    uses: list[UseChecked]
    """What came of each use, the variants last."""
    findings: int
    """Number of uses that differ, the variants counted as one."""
    errors: list[str]
    """Defects of eqfuzz."""
    interrupted: bool
    """Whether Ctrl-C ended it."""
    out_of_time: bool
    """Whether the time limit ended it."""
    seconds: float
    """Wall seconds."""
    out: str
    """Folder of the check."""
