"""Messages between the parent and the processes that fork: how they start, what they fork, how a child ended."""

from __future__ import annotations

import dataclasses
from typing import Literal

from eqfuzz.run.messages.codec import Message
from eqfuzz.run.sandbox.policy import SandboxPolicy


@dataclasses.dataclass(frozen=True, kw_only=True)
class StartupMessage(Message):
    """The first packet to a new process.

    Attributes:
        target: ``module:attribute``.
        path: The parent's ``sys.path``.
        folder: Working folder of the process.
        preload: File of the user that is executed at the start; None for none.
        memory_bytes: Limit on the address space; None where it must not be limited (CUDA reserves terabytes of it).
        cuda: Whether the process uses CUDA devices.
        warm: Whether to compile something at the start.
        policy: That of the sandbox that the process is in; None for none.
    """

    event: Literal["hello"] = "hello"
    target: str
    path: tuple[str, ...]
    folder: str
    preload: str | None = None
    memory_bytes: int | None = None
    cuda: bool = False
    warm: bool = True
    policy: SandboxPolicy | None = None


@dataclasses.dataclass(frozen=True, kw_only=True)
class ProcessReady(Message):
    """A process has started. ``cpu_total``: CPU seconds that it has used."""

    event: Literal["ready"] = "ready"
    cpu_total: float = 0.0


@dataclasses.dataclass(frozen=True, kw_only=True)
class StartFailed(Message):
    """A process could not start; ``message`` is one line."""

    event: Literal["failed"] = "failed"
    message: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class WorkerIdle(Message):
    """A worker has put everything back and takes another job. ``cpu_total``: CPU seconds that it has used."""

    event: Literal["idle"] = "idle"
    cpu_total: float


@dataclasses.dataclass(frozen=True, kw_only=True)
class WorkerRetired(Message):
    """A worker must be replaced, because of what a job left in it."""

    event: Literal["retire"] = "retire"
    detail: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class ForkRequest(Message):
    """Fork a child that works in ``folder`` on processor ``core``; both are missing where a worker is forked."""

    event: Literal["fork"] = "fork"
    folder: str = ""
    core: int | None = None


@dataclasses.dataclass(frozen=True, kw_only=True)
class ChildForked(Message):
    """A child was forked; ``pid`` is its number where the server runs."""

    event: Literal["forked"] = "forked"
    pid: int


@dataclasses.dataclass(frozen=True, kw_only=True)
class ForkFailed(Message):
    """No child could be forked; ``reason`` is one line."""

    event: Literal["fork-failed"] = "fork-failed"
    reason: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class ChildEnded(Message):
    """A child has ended.

    ``status`` is its wait status, ``why`` what the supervisor of a sandbox ended it for; ``retired``: the server forks
    no more.
    """

    event: Literal["ended"] = "ended"
    status: int
    cpu_seconds: float
    why: str | None = None
    retired: bool = False
