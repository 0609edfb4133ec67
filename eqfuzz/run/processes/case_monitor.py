"""The parent's side of one case: its pipes, its deadlines, and how it ended."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from eqfuzz.run.limits import Limits
from eqfuzz.run.processes.fork_client import ChildHandle
from eqfuzz.run.protocol import (
    EXIT,
    FINISHED,
    FORBIDDEN,
    RESERVED,
    BadEvent,
    Event,
    Lines,
    ServerLost,
    describe_status,
    one_line,
    readable,
)
from eqfuzz.run.sandbox.event_validation import EventValidator

TAIL_BYTES = 4096

_CHUNK = 2**16
# What can still be in the pipes of a dead process; more comes from somebody who got away.
_LAST_BYTES = 2**20
_PATIENCE_TO_EXIT = 5.0


class CasePipes:
    """What connects the parent with one case: a folder, two pipes, and two files without names.

    The folder (the case's working directory) goes when the wires are closed.
    """

    def __init__(self, case: dict[str, Any], temporary: Path) -> None:
        payload = json.dumps(case).encode()
        temporary.mkdir(parents=True, exist_ok=True)
        self.folder = Path(tempfile.mkdtemp(prefix="case-", dir=temporary))
        self._case: IO[bytes] = tempfile.TemporaryFile(dir=temporary)  # noqa: SIM115 - closed by close()
        self._case.write(payload)
        self._case.flush()
        self._stack: IO[bytes] = tempfile.TemporaryFile(dir=temporary)  # noqa: SIM115
        self.events, self._events_end = os.pipe()
        self.output, self._output_end = os.pipe()
        os.set_blocking(self.events, False)
        os.set_blocking(self.output, False)

    def message(self) -> dict[str, Any]:
        """The request, as ``child.Request.of`` reads it with ``descriptors``."""
        return {"folder": str(self.folder)}

    def descriptors(self) -> list[int]:
        """What goes to the child: case, events, output, stack."""
        return [self._case.fileno(), self._events_end, self._output_end, self._stack.fileno()]

    def sent(self) -> None:
        """Close the child's ends here, so that the pipes end when the child does."""
        if not self._case.closed:
            self._case.close()
            os.close(self._events_end)
            os.close(self._output_end)

    def stack(self) -> str:
        """The Python stack of a process that died of a signal, innermost call first; mostly empty."""
        text = os.pread(self._stack.fileno(), 4 * TAIL_BYTES, 0).decode(errors="replace")
        lines = [line for line in text.splitlines() if not line.startswith("Extension modules:")]
        return "\n".join(lines)[:TAIL_BYTES].strip()

    def close(self) -> None:
        """Close everything and remove the folder."""
        self.sent()
        os.close(self.events)
        os.close(self.output)
        self._stack.close()
        # A program may have made what we cannot delete; it lies below the run's folder and harms nobody.
        shutil.rmtree(self.folder, ignore_errors=True)


class CaseMonitor:
    """Follows one case in one process to its end.

    ``alone``: the process ends with the case (a fork); otherwise it lives on (a worker). ``cpu_before``: CPU
    seconds that the process had used before. ``screening``: what a case that is not trusted may say, and for how long.
    """

    def __init__(
        self,
        wires: CasePipes,
        process: ChildHandle,
        limits: Limits,
        closing: threading.Event,
        *,
        alone: bool,
        cpu_before: float = 0.0,
        screening: EventValidator | None = None,
    ) -> None:
        self._wires = wires
        self._process = process
        self._limits = limits
        self._closing = closing
        self._alone = alone
        self._cpu_before = cpu_before
        self._screening = screening
        self._lines = Lines() if screening is None else Lines(screening.line_bytes)
        self._open = {wires.events, wires.output}
        self._printed = 0
        self._tail = b""
        self._stage: str | None = None
        self._seconds = limits.load_s
        self._started = time.monotonic()
        self._deadline = self._started + limits.load_s
        self._ended: tuple[str, str] | None = None
        self.finished: Event | None = None

    def events(self) -> Iterator[Event]:
        """The case's events as they come, and ``exit`` as the last one.

        Raises ``ServerLost`` when the process went because the one that it was forked from did.
        """
        while not (self._ended or self.finished or self._process.over or self._closing.is_set()):
            yield from self._listen()
        if self._closing.is_set() and not self.finished:
            self._ended = ("error", "the pool was closed while the case ran")
        if self._ended:
            if self._ended[0] == "hang":
                self._process.ask_where()
            self._process.kill()
        elif self.finished and self._alone and not self._process.wait(_PATIENCE_TO_EXIT):
            self._process.kill()
        yield from self._drain()
        if self._process.lost and not self._ended and not self.finished:
            self._process.kill()
            raise ServerLost("it died while the case ran")
        yield self._exit()

    def _listen(self) -> Iterator[Event]:
        """Wait for one round of news, a second at most."""
        left = max(0.0, self._deadline - time.monotonic())
        ready = readable([*self._open, self._process.fate], min(left, 1.0))
        if self._process.fate in ready:
            self._process.read()
        if self._wires.output in ready:
            self._read_output()
        if self._wires.events in ready:
            yield from self._read_events()
        if self._ended or self.finished or self._process.over:
            return
        if self._screening is not None and time.monotonic() > self._started + self._screening.seconds:
            self._ended = (FORBIDDEN, f"does not end within {self._screening.seconds:g} seconds in all")
        elif time.monotonic() > self._deadline:
            self._ended = ("hang", f"no end of {self._place()} after {self._seconds:g} seconds")

    def _read_output(self) -> int:
        data = self._read(self._wires.output)
        self._printed += len(data)
        self._tail = (self._tail + data)[-TAIL_BYTES:]
        if self._printed > self._limits.output_bytes and not self._ended:
            self._ended = ("output", f"printed more than {self._limits.output_bytes} bytes")
        return len(data)

    def _read_events(self) -> Iterator[Event]:
        try:
            for event in self._lines.feed(self._read(self._wires.events)):
                name = event["event"]
                if name == FINISHED:
                    self.finished = event
                    return
                if name in RESERVED:
                    raise BadEvent(f"not for a case to say: {one_line(repr(event), 80)}")
                if self._screening is not None:
                    self._screening.check(event)
                if name == "stage":
                    self._stage, self._seconds = event["stage"], float(event["seconds"])
                    self._deadline = time.monotonic() + self._seconds
                handed_over = time.monotonic()
                yield event
                # Whoever listens may take long over an event; that is not the case's time.
                self._deadline += time.monotonic() - handed_over
        except BadEvent as bad:
            self._ended = (FORBIDDEN if self._screening is not None else "error", f"on the event pipe: {bad}")

    def _read(self, descriptor: int) -> bytes:
        try:
            data = os.read(descriptor, _CHUNK)
        except BlockingIOError:
            return b""
        if not data:
            self._open.discard(descriptor)
        return data

    def _drain(self) -> Iterator[Event]:
        """What is left in the pipes when nobody writes any more."""
        left = _LAST_BYTES
        while left > 0 and self._wires.output in self._open and (size := self._read_output()):
            left -= size
        rounds = _LAST_BYTES // _CHUNK
        while rounds and not self._ended and not self.finished and self._wires.events in self._open:
            if not readable([self._wires.events], 0):
                break
            yield from self._read_events()
            rounds -= 1

    def _exit(self) -> Event:
        reason, detail = self._verdict()
        output = self._tail.decode(errors="replace")
        details = self.finished.get("traceback") if self.finished else self._wires.stack()
        if isinstance(details, str) and details:
            output = f"{output.rstrip()}\n{details}".lstrip()
        return {
            "event": EXIT,
            "reason": reason,
            "detail": one_line(detail),
            "stage": self._stage,
            "cpu_seconds": self._cpu_seconds(),
            "wall_seconds": time.monotonic() - self._started,
            "output": output,
        }

    def _verdict(self) -> tuple[str, str]:
        if self._ended:
            return self._ended
        if self.finished:
            error = self.finished.get("error")
            return ("error", str(error)) if error else ("done", "finished")
        if self._process.why is not None:
            return FORBIDDEN, self._process.why
        if self._process.status is None:
            return "error", "nobody knows how the process ended"
        reason, detail = describe_status(self._process.status)
        return reason, f"{detail} in {self._place()}" if reason == "hang" else detail

    def _cpu_seconds(self) -> float:
        if self._process.status is not None:
            total = self._process.cpu_seconds
        elif self.finished and isinstance(self.finished.get("cpu_total"), float):
            total = self.finished["cpu_total"]
        else:
            total = self._cpu_before
        return max(0.0, total - self._cpu_before)

    def _place(self) -> str:
        return f"stage {self._stage}" if self._stage else "loading, before the first stage"
