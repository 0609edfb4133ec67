"""What crosses a process border: JSON lines for events, JSON packets with file descriptors for requests.

Never pickle: the other side runs untrusted programs.
"""

from __future__ import annotations

import json
import math
import os
import select
import signal
import socket
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

Event = dict[str, Any]

MAX_LINE = 64 * 2**20
MAX_PACKET = 2**17
MAX_DESCRIPTORS = 8

# The events that processes tell each other and that no case may emit.
FINISHED = "finished"
EXIT = "exit"
RESTART = "restart"
RESERVED = frozenset({FINISHED, EXIT, RESTART})

# Why a case ended that is not trusted and did what no case does.
FORBIDDEN = "forbidden"

# The exit status of a child that could not write to its own event pipe any more.
PIPE_LOST = 86


class BadEvent(ValueError):
    """Something on an event pipe that is not an event. ``str()`` is one line."""


class RunnerFailed(RuntimeError):
    """The processes that run cases cannot be started. ``str()`` says why, naming file and line where known."""


class ServerLost(Exception):
    """The process that children are forked from has died or stopped answering."""


def encode(event: Event) -> bytes:
    """One line. Raises ``ValueError`` without a name, ``TypeError`` for what JSON cannot say."""
    if not isinstance(event.get("event"), str):
        raise ValueError(f"an event needs a name under 'event': {one_line(repr(event))}")
    return json.dumps(event).encode() + b"\n"


class Lines:
    """Bytes in, events out: what arrives on an event pipe, in pieces of any size."""

    def __init__(self, limit: int = MAX_LINE) -> None:
        self._pieces: list[bytes] = []
        self._size = 0
        self._limit = limit

    def feed(self, data: bytes) -> Iterator[Event]:
        """The events that ``data`` completes, in order. Raises ``BadEvent`` at the first line that is none."""
        *complete, rest = data.split(b"\n")
        for line in complete:
            whole = b"".join([*self._pieces, line])
            self._pieces, self._size = [], 0
            yield _decode(whole)
        if rest:
            self._pieces.append(rest)
            self._size += len(rest)
            if self._size > self._limit:
                raise BadEvent(f"an event of more than {self._limit} bytes")


def _decode(line: bytes) -> Event:
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        raise BadEvent(f"not an event: {_excerpt(line)}") from None
    if not isinstance(event, dict) or not isinstance(event.get("event"), str):
        raise BadEvent(f"not an event: {_excerpt(line)}")
    if event["event"] == "stage" and not is_stage(event):
        raise BadEvent(f"a stage without a name or a limit: {_excerpt(line)}")
    return event


def is_stage(event: Event) -> bool:
    """Whether a ``stage`` event has a name and a limit in seconds of wall time."""
    seconds = event.get("seconds")
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)):
        return False
    return isinstance(event.get("stage"), str) and 0 < seconds < 1e6


def _excerpt(line: bytes) -> str:
    return one_line(repr(line[:80]))


def one_line(text: str, limit: int = 300) -> str:
    """``text`` with runs of white space made one blank, cut at ``limit`` characters."""
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"


def describe_status(status: int) -> tuple[str, str]:
    """A wait status as (reason, detail) of a process that did not say it had finished."""
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
    """Those that can be read, or have ended, waiting at most so long; None waits for ever.

    Like ``select.select``, which fails on descriptors above 1023.
    """
    poll = select.poll()
    for descriptor in descriptors:
        poll.register(descriptor, select.POLLIN)
    return {descriptor for descriptor, _ in poll.poll(None if seconds is None else math.ceil(seconds * 1000))}


class Channel:
    """A socket that keeps packets apart and carries file descriptors (unix, seqpacket)."""

    def __init__(self, end: socket.socket) -> None:
        self.socket = end

    @classmethod
    def pair(cls) -> tuple[Channel, Channel]:
        """Two connected ends, neither of which survives an exec."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        return cls(ours), cls(theirs)

    @classmethod
    def of(cls, descriptor: int) -> Channel:
        """The channel whose socket is ``descriptor``, which is closed to children from here on."""
        os.set_inheritable(descriptor, False)
        return cls(socket.socket(fileno=descriptor))

    def fileno(self) -> int:
        """The socket's file descriptor."""
        return self.socket.fileno()

    def send(self, message: dict[str, Any], descriptors: Sequence[int] = ()) -> None:
        """Send one packet. Raises ``OSError`` when nobody is there, ``ValueError`` when it is too long."""
        packet = json.dumps(message).encode()
        if len(packet) > MAX_PACKET:
            raise ValueError(f"a message of {len(packet)} bytes, at most {MAX_PACKET} fit")
        socket.send_fds(self.socket, [packet], list(descriptors))

    def receive(self, timeout: float | None = None) -> tuple[dict[str, Any], list[int]] | None:
        """The next packet and its descriptors; None when the other side is gone. Raises ``TimeoutError``."""
        self.socket.settimeout(timeout)
        try:
            packet, descriptors, _, _ = socket.recv_fds(
                self.socket, MAX_PACKET, MAX_DESCRIPTORS, socket.MSG_CMSG_CLOEXEC
            )
        except ConnectionResetError:
            return None
        finally:
            self.socket.settimeout(None)
        if not packet:
            return None
        return json.loads(packet), descriptors

    def is_abandoned(self) -> bool:
        """Whether the other end is closed, whatever packets of it are still to be read."""
        poll = select.poll()
        poll.register(self.socket, 0)
        return bool(poll.poll(0))

    def close(self) -> None:
        """Close this end."""
        self.socket.close()
