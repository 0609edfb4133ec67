"""Inside a child: one case, from its request to the event that says it is over."""

from __future__ import annotations

import dataclasses
import faulthandler
import fcntl
import json
import os
import random
import signal
import sys
import threading
import traceback
from typing import Any

from eqfuzz.run.limits import limit_cpu, limit_memory, unlimit_memory, used_cpu_seconds
from eqfuzz.run.processes.startup import Target
from eqfuzz.run.protocol import FINISHED, PIPE_LOST, RESERVED, Event, encode, is_stage, one_line

# Far above what a program opens, so that a loop over "the first few" descriptors does not meet them.
HIGH_DESCRIPTOR = 200

_TRACEBACK_CHARACTERS = 16_000


class Emitter:
    """What a case is given to speak with: ``emit(event)`` writes one JSON line on the event pipe.

    A ``stage`` event (``{"event": "stage", "stage": name, "seconds": wall}``) also raises this process's limit
    of CPU seconds. Raises ``ValueError`` or ``TypeError`` for what is no event. A pipe that is gone, or a process
    that the program has forked off itself, ends at once: its events would be somebody else's.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._owner = os.getpid()
        self._lock = threading.Lock()
        self._open = True

    def __call__(self, event: Event) -> None:
        if event.get("event") in RESERVED:
            raise ValueError(f"the event name {event['event']!r} is taken")
        line = encode(event)
        if event["event"] == "stage":
            if not is_stage(event):
                raise ValueError(f"a stage event needs 'stage', a name, and 'seconds': {one_line(repr(event))}")
            limit_cpu(float(event["seconds"]))
        self._write(line)

    def finish(self, error: str | None, detail: str | None) -> None:
        """Say that the case is over, and nothing after that."""
        event = {"event": FINISHED, "error": error, "traceback": detail, "cpu_total": used_cpu_seconds()}
        self._write(encode(event))
        self._open = False
        os.close(self._descriptor)

    def _write(self, line: bytes) -> None:
        if os.getpid() != self._owner:
            os._exit(PIPE_LOST)
        with self._lock:
            if not self._open:
                raise ValueError("the case is over")
            view = memoryview(line)
            while view:
                try:
                    view = view[os.write(self._descriptor, view) :]
                except OSError:
                    os._exit(PIPE_LOST)


@dataclasses.dataclass(frozen=True)
class Request:
    """A case to run: where it is, and where its words go. All but the folder are file descriptors.

    ``case`` is a file with the case as JSON, ``stack`` one that takes the Python stack if the process dies.
    """

    folder: str
    case: int
    events: int
    output: int
    stack: int

    @classmethod
    def of(cls, message: dict[str, Any], descriptors: list[int]) -> Request:
        """From a packet. Raises ``TypeError`` when it carries too many or too few descriptors."""
        return cls(message["folder"], *descriptors)


def run_request(target: Target, request: Request, memory_bytes: int | None) -> None:
    """Run one case to its ``finished`` event. Raises nothing of the case's own."""
    case = _read_case(request.case)
    os.chdir(request.folder)
    _take_output(request.output)
    emit = Emitter(raise_descriptor(request.events))
    stack = raise_descriptor(request.stack)
    faulthandler.enable(stack)
    # At the CPU limit, and when the parent asks on a wall limit: say where, then die as SIGXCPU has it.
    faulthandler.register(signal.SIGXCPU, file=stack, all_threads=False, chain=True)
    seed_generators()
    if memory_bytes is not None:
        limit_memory(memory_bytes)
    error = detail = None
    try:
        target(case, emit)
    except BaseException as raised:  # the parent is told, whatever it was, SystemExit included
        unlimit_memory()
        error = one_line("".join(traceback.format_exception_only(raised)[-1:]))
        detail = traceback.format_exc()[-_TRACEBACK_CHARACTERS:]
        del raised
    unlimit_memory()
    flush_output()
    faulthandler.unregister(signal.SIGXCPU)
    faulthandler.disable()
    emit.finish(error, detail)
    close_quietly(stack)


def raise_descriptor(descriptor: int) -> int:
    """Move a file descriptor out of the way of the program under test; programs it starts do not get it."""
    high = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, HIGH_DESCRIPTOR)
    os.close(descriptor)
    return high


def seed_generators() -> None:
    """Start every generator of random numbers from the same place: Python's own reseeds itself at each fork."""
    random.seed(0)
    torch: Any = sys.modules.get("torch")
    if torch is not None:
        torch.manual_seed(0)
    numpy: Any = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(0)


def flush_output() -> None:
    """Write out what Python still holds of stdout and stderr; a program may have closed either."""
    for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError, AttributeError):
            continue


def close_quietly(descriptor: int) -> None:
    """Close a descriptor that the program may have closed already."""
    try:
        os.close(descriptor)
    except OSError:
        return


def _read_case(descriptor: int) -> dict[str, Any]:
    with open(descriptor, "rb") as file:
        file.seek(0)
        return json.loads(file.read())


def _take_output(descriptor: int) -> None:
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)
    os.close(descriptor)
    # Line by line, so that little is lost when the process dies; new objects, since what the server has
    # buffered in its own is not this child's.
    sys.stdin = sys.__stdin__ = os.fdopen(0, closefd=False)
    sys.stdout = sys.__stdout__ = os.fdopen(1, "w", buffering=1, closefd=False, errors="backslashreplace")
    sys.stderr = sys.__stderr__ = os.fdopen(2, "w", buffering=1, closefd=False, errors="backslashreplace")
