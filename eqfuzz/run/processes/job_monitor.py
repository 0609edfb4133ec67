"""The parent's side of one job: its pipes, its deadlines, and how its child ended."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from eqfuzz.errors import one_line
from eqfuzz.run.limits import Limits
from eqfuzz.run.messages.codec import MAX_LINE, MessageLines, encode
from eqfuzz.run.messages.job import ChildEvent, ChildExit, ChildFinished, Job, Reason, StageEntered
from eqfuzz.run.messages.process_messages import ForkRequest
from eqfuzz.run.processes.fork_client import ChildHandle
from eqfuzz.run.processes.stage_deadline import StageDeadline
from eqfuzz.run.protocol import FORBIDDEN, BadMessage, ServerLost, describe_status, readable
from eqfuzz.run.sandbox.event_validation import EventValidator

TAIL_BYTES = 4096

_CHUNK = 2**16
_LAST_BYTES = 2**20
"""What can still be in the pipes of a dead process; more would come from a process that escaped."""

_SECONDS_TO_EXIT = 5.0


class JobPipes:
    """What connects the parent with the child of one job: a folder, two pipes, and two files without names.

    The folder (the child's working directory) is removed when the pipes are closed. Raises ``TypeError`` for a job that
    JSON cannot express.
    """

    def __init__(self, job: Job[Any], temporary: Path) -> None:
        request = encode(job)
        temporary.mkdir(parents=True, exist_ok=True)
        self.folder = Path(tempfile.mkdtemp(prefix="case-", dir=temporary))
        self._request: IO[bytes] = tempfile.TemporaryFile(dir=temporary)  # noqa: SIM115 - closed by close()
        self._request.write(request)
        self._request.flush()
        self._stack: IO[bytes] = tempfile.TemporaryFile(dir=temporary)  # noqa: SIM115
        self.events, self._events_end = os.pipe()
        self.output, self._output_end = os.pipe()
        os.set_blocking(self.events, False)
        os.set_blocking(self.output, False)

    def request(self, core: int | None = None) -> ForkRequest:
        """The request to fork the child, which goes with ``descriptors``."""
        return ForkRequest(folder=str(self.folder), core=core)

    def descriptors(self) -> list[int]:
        """File descriptors for the child: job, events, output, stack."""
        return [self._request.fileno(), self._events_end, self._output_end, self._stack.fileno()]

    def sent(self) -> None:
        """Close the child's ends here, so that the pipes end when the child does."""
        if not self._request.closed:
            self._request.close()
            os.close(self._events_end)
            os.close(self._output_end)

    def stack(self) -> str:
        """The Python stack of a process that died of a signal, innermost call first; often empty."""
        text = os.pread(self._stack.fileno(), 4 * TAIL_BYTES, 0).decode(errors="replace")
        lines = [line for line in text.splitlines() if not line.startswith("Extension modules:")]
        return "\n".join(lines)[:TAIL_BYTES].strip()

    def close(self) -> None:
        """Close everything and remove the folder."""
        self.sent()
        os.close(self.events)
        os.close(self.output)
        self._stack.close()
        # A program may have created what we cannot delete; it lies below the run's folder and does no harm there.
        shutil.rmtree(self.folder, ignore_errors=True)


class JobMonitor:
    """Follows one job in one child to its end.

    ``forked``: the process ends with the job; otherwise it is a worker, which lives on. ``cpu_before``: CPU seconds
    that the process had used before. ``validator``: checks the events of a child that is not trusted, and limits its
    time in all.
    """

    def __init__(
        self,
        job: Job[Any],
        pipes: JobPipes,
        process: ChildHandle,
        limits: Limits,
        closing: threading.Event,
        *,
        forked: bool,
        cpu_before: float = 0.0,
        validator: EventValidator | None = None,
    ) -> None:
        self._pipes = pipes
        self._process = process
        self._limits = limits
        self._closing = closing
        self._forked = forked
        self._cpu_before = cpu_before
        self._validator = validator
        self._lines = MessageLines(job.decoder(), MAX_LINE if validator is None else validator.line_bytes)
        self._open = {pipes.events, pipes.output}
        self._printed = 0
        self._tail = b""
        self._stage: str | None = None
        self._started = time.monotonic()
        self._deadline = StageDeadline(limits.load_s)
        self._ended: tuple[Reason, str] | None = None
        self.finished: ChildFinished | None = None

    def events(self) -> Iterator[ChildEvent]:
        """The child's events as they come, and ``ChildExit`` as the last one.

        Raises ``ServerLost`` when the child died because the process that it was forked from did.
        """
        while not (self._ended or self.finished or self._process.over or self._closing.is_set()):
            yield from self._listen()
        if self._closing.is_set() and not self.finished:
            self._ended = ("error", "the pool was closed while the job ran")
        if self._ended:
            if self._ended[0] == "hang":
                self._process.request_stack()
            self._process.kill()
        elif self.finished and self._forked and not self._process.wait(_SECONDS_TO_EXIT):
            self._process.kill()
        yield from self._drain()
        if self._process.lost and not self._ended and not self.finished:
            self._process.kill()
            raise ServerLost("it died while the job ran")
        yield self._exit()

    def _listen(self) -> Iterator[ChildEvent]:
        """Wait until there is something to read, a second at most, and read it."""
        ready = readable([*self._open, self._process.fate], min(self._deadline.left(), 1.0))
        if self._process.fate in ready:
            self._process.read()
        if self._pipes.output in ready:
            self._read_output()
        if self._pipes.events in ready:
            yield from self._read_events()
        if self._ended or self.finished or self._process.over:
            return
        if self._validator is not None and time.monotonic() > self._started + self._validator.seconds:
            self._ended = (FORBIDDEN, f"does not end within {self._validator.seconds:g} seconds in all")
            return
        self._deadline.pid = self._process.pid
        if self._deadline.has_passed():
            self._ended = ("hang", f"no end of {self._place()} after {self._deadline.seconds:g} seconds")

    def _read_output(self) -> int:
        data = self._read(self._pipes.output)
        self._printed += len(data)
        self._tail = (self._tail + data)[-TAIL_BYTES:]
        if self._printed > self._limits.output_bytes and not self._ended:
            self._ended = ("output", f"printed more than {self._limits.output_bytes} bytes")
        return len(data)

    def _read_events(self) -> Iterator[ChildEvent]:
        try:
            for event in self._lines.feed(self._read(self._pipes.events)):
                if isinstance(event, ChildFinished):
                    self.finished = event
                    return
                if self._validator is not None:
                    self._validator.check(event)
                if isinstance(event, StageEntered):
                    self._stage = event.stage
                    self._deadline.enter(event.seconds)
                yielded = time.monotonic()
                yield event
                # The consumer may take long over an event; that time is not the job's.
                self._deadline.postpone(time.monotonic() - yielded)
        except BadMessage as bad:
            self._ended = (FORBIDDEN if self._validator is not None else "error", f"on the event pipe: {bad}")

    def _read(self, descriptor: int) -> bytes:
        try:
            data = os.read(descriptor, _CHUNK)
        except BlockingIOError:
            return b""
        if not data:
            self._open.discard(descriptor)
        return data

    def _drain(self) -> Iterator[ChildEvent]:
        """Read what is left in the pipes when no process writes any more."""
        left = _LAST_BYTES
        while left > 0 and self._pipes.output in self._open and (size := self._read_output()):
            left -= size
        rounds = _LAST_BYTES // _CHUNK
        while rounds and not self._ended and not self.finished and self._pipes.events in self._open:
            if not readable([self._pipes.events], 0):
                break
            yield from self._read_events()
            rounds -= 1

    def _exit(self) -> ChildExit:
        reason, detail = self._reason()
        output = self._tail.decode(errors="replace")
        details = self.finished.traceback if self.finished else self._pipes.stack()
        if details:
            output = f"{output.rstrip()}\n{details}".lstrip()
        return ChildExit(
            reason=reason,
            detail=one_line(detail),
            stage=self._stage,
            cpu_seconds=self._cpu_seconds(),
            wall_seconds=time.monotonic() - self._started,
            output=output,
        )

    def _reason(self) -> tuple[Reason, str]:
        if self._ended:
            return self._ended
        if self.finished:
            return ("error", self.finished.error) if self.finished.error else ("done", "finished")
        if self._process.why is not None:
            return FORBIDDEN, self._process.why
        if self._process.status is None:
            return "error", "how the process ended is unknown"
        reason, detail = describe_status(self._process.status)
        return reason, f"{detail} in {self._place()}" if reason == "hang" else detail

    def _cpu_seconds(self) -> float:
        if self._process.status is not None:
            total = self._process.cpu_seconds
        elif self.finished:
            total = self.finished.cpu_total
        else:
            total = self._cpu_before
        return max(0.0, total - self._cpu_before)

    def _place(self) -> str:
        return f"stage {self._stage}" if self._stage else "loading, before the first stage"
