"""Inside a child: one job, from its request to the event that reports its end."""

from __future__ import annotations

import dataclasses
import faulthandler
import fcntl
import os
import random
import signal
import sys
import threading
import traceback
from typing import Any

from eqfuzz.errors import error_line
from eqfuzz.malloc import keep_freed
from eqfuzz.run.limits import limit_cpu, limit_memory, unlimit_memory, used_cpu_seconds
from eqfuzz.run.messages.codec import encode
from eqfuzz.run.messages.job import ChildEvent, ChildExit, ChildFinished, JobRestarted, JobTarget, StageEntered
from eqfuzz.run.messages.process_messages import ForkRequest
from eqfuzz.run.protocol import PIPE_LOST

HIGH_DESCRIPTOR = 200
"""Far above what a program opens, so that a loop over the first few descriptors does not close ours."""

_TRACEBACK_CHARACTERS = 16_000

_RESERVED = (ChildFinished, ChildExit, JobRestarted)


class Emitter:
    """``emit(event)`` writes one JSON line on the event pipe.

    ``StageEntered`` also raises this process's limit of CPU seconds. Raises ``ValueError`` for the events that are not
    a job's to report, ``TypeError`` for what JSON cannot express. The process ends at once if the pipe is closed, or if
    the program under test has forked it: its events would count as its parent's.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._owner = os.getpid()
        self._lock = threading.Lock()
        self._open = True

    def __call__(self, event: ChildEvent) -> None:
        if isinstance(event, _RESERVED):
            raise ValueError(f"a job cannot report {event.message_name!r}")
        line = encode(event)
        if isinstance(event, StageEntered):
            limit_cpu(event.seconds)
        self._write(line)

    def finish(self, error: str | None, detail: str | None) -> None:
        """Report the end of the job; no event can follow."""
        self._write(encode(ChildFinished(error=error, traceback=detail, cpu_total=used_cpu_seconds())))
        self._open = False
        os.close(self._descriptor)

    def _write(self, line: bytes) -> None:
        if os.getpid() != self._owner:
            os._exit(PIPE_LOST)
        with self._lock:
            if not self._open:
                raise ValueError("the job has ended")
            view = memoryview(line)
            while view:
                try:
                    view = view[os.write(self._descriptor, view) :]
                except OSError:
                    os._exit(PIPE_LOST)


@dataclasses.dataclass(frozen=True)
class Request:
    """A job to run: the folder to work in, and file descriptors.

    ``job`` is a file with the job as JSON, ``stack`` one that takes the Python stack if the process dies.
    """

    folder: str
    job: int
    events: int
    output: int
    stack: int

    @classmethod
    def of(cls, message: ForkRequest, descriptors: list[int]) -> Request:
        """From a packet. Raises ``TypeError`` when it carries too many or too few descriptors."""
        return cls(message.folder, *descriptors)


def run_request(target: JobTarget, request: Request, memory_bytes: int | None) -> None:
    """Run one job to its ``finished`` event. What the job raises is reported there."""
    job = _read_job(request.job)
    os.chdir(request.folder)
    _take_output(request.output)
    emit = Emitter(raise_descriptor(request.events))
    stack = raise_descriptor(request.stack)
    faulthandler.enable(stack)
    # At the CPU limit, and when the parent sends SIGXCPU at a deadline: write the stack, then die of the signal.
    faulthandler.register(signal.SIGXCPU, file=stack, all_threads=False, chain=True)
    seed_generators()
    keep_freed()
    if memory_bytes is not None:
        limit_memory(memory_bytes)
    error = detail = None
    try:
        target.run(job, emit)
    except BaseException as raised:  # whatever it is, SystemExit included, the parent gets it
        unlimit_memory()
        error = error_line(raised)
        detail = traceback.format_exc()[-_TRACEBACK_CHARACTERS:]
        del raised
    unlimit_memory()
    flush_output()
    faulthandler.unregister(signal.SIGXCPU)
    faulthandler.disable()
    emit.finish(error, detail)
    close_quietly(stack)


def raise_descriptor(descriptor: int) -> int:
    """Move a file descriptor up, out of the reach of the program under test; programs that it starts do not get it."""
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
    """Flush stdout and stderr; a program may have closed either."""
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


def _read_job(descriptor: int) -> bytes:
    with open(descriptor, "rb") as file:
        file.seek(0)
        return file.read()


def _take_output(descriptor: int) -> None:
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)
    os.close(descriptor)
    # Line-buffered, so that little is lost when the process dies; new objects, because the buffers of the server's are
    # not this child's.
    sys.stdin = sys.__stdin__ = os.fdopen(0, closefd=False)
    sys.stdout = sys.__stdout__ = os.fdopen(1, "w", buffering=1, closefd=False, errors="backslashreplace")
    sys.stderr = sys.__stderr__ = os.fdopen(2, "w", buffering=1, closefd=False, errors="backslashreplace")
