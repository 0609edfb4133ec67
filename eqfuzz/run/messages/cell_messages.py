"""Messages between a child and the processes of its cells, which share runs of the C++ compiler."""

from __future__ import annotations

import dataclasses
from typing import Literal

from eqfuzz.run.kernels.deferred import Built, Kernel
from eqfuzz.run.messages.codec import Message
from eqfuzz.run.messages.job import ChildEvent, Reason
from eqfuzz.run.messages.seed_jobs import CellReport


@dataclasses.dataclass(frozen=True, kw_only=True)
class KernelsRequested(ChildEvent):
    """A cell waits for these kernels."""

    event: Literal["kernels"] = "kernels"
    kernels: tuple[Kernel, ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class KernelsReply(Message):
    """Where each of the requested kernels is; None for those that could not be built.

    ``explained`` is that of the reports on other cells up to now.
    """

    event: Literal["built-kernels"] = "built-kernels"
    built: tuple[Built | None, ...]
    explained: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True, kw_only=True)
class CellFinished(ChildEvent):
    """A cell was judged.

    ``codes`` are digests of the code that was generated, ``account`` CPU seconds by stage, ``alone`` the number of
    kernels that the cell's own process had to build.
    """

    event: Literal["judged"] = "judged"
    report: CellReport
    codes: tuple[str, ...]
    account: dict[str, float]
    alone: int


@dataclasses.dataclass(frozen=True, kw_only=True)
class KernelsBuilt(ChildEvent):
    """One run of the C++ compiler has succeeded; ``at`` is where the kernels are, in the order of the request."""

    event: Literal["built"] = "built"
    at: tuple[Built, ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class CellProcessExit(ChildEvent):
    """How the process of a cell ended: ``stage`` is its last, ``seconds`` its wall time."""

    event: Literal["exit"] = "exit"
    stage: str
    reason: Reason
    detail: str
    traceback: str | None
    seconds: float
