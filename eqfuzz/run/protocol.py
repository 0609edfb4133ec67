"""What is common to both sides of a process border: exceptions, wait statuses, waiting for descriptors."""

from __future__ import annotations

import math
import os
import select
import signal
from collections.abc import Iterable
from typing import Literal

FORBIDDEN: Literal["forbidden"] = "forbidden"
"""Why an untrusted child ended that did what no job does."""

PIPE_LOST = 86
"""The exit status of a child that could no longer write to its own event pipe."""


Death = Literal["crash", "hang", "memory", "error"]
"""Why a process ended that did not report its end."""


class BadMessage(ValueError):
    """Something on a pipe that is no message, or none that may come there. ``str()`` is one line."""


class RunnerFailed(RuntimeError):
    """The processes that run jobs cannot be started. ``str()`` says why, naming file and line where known."""


class ServerLost(Exception):
    """The process that children are forked from has died or stopped answering."""


def describe_status(status: int) -> tuple[Death, str]:
    """Reason and detail, from the wait status of a process that did not report its end."""
    if not os.WIFSIGNALED(status):
        code = os.WEXITSTATUS(status)
        if code == PIPE_LOST:
            return "error", "the program closed the event pipe"
        return "crash", f"exited with code {code} on its own"
    number = os.WTERMSIG(status)
    if number == signal.SIGKILL:
        return "memory", "killed by SIGKILL from outside: most likely the machine is out of memory"
    if number == signal.SIGXCPU:
        return "hang", "used up its CPU seconds"
    try:
        name = signal.Signals(number).name
    except ValueError:
        name = f"signal {number}"
    return "crash", f"killed by {name}"


def readable(descriptors: Iterable[int], seconds: float | None) -> set[int]:
    """Those of ``descriptors`` that can be read or have ended, after at most so many seconds (None: no limit).

    Unlike ``select.select`` it takes descriptors above 1023.
    """
    poll = select.poll()
    for descriptor in descriptors:
        poll.register(descriptor, select.POLLIN)
    return {descriptor for descriptor, _ in poll.poll(None if seconds is None else math.ceil(seconds * 1000))}
