"""The parent's view of a forking process: starting it, asking it for children, and how those fare."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import eqfuzz
from eqfuzz.run.environment import Environment
from eqfuzz.run.processes.process_tree import children_of, innermost_number, kill, kill_family, kill_group
from eqfuzz.run.processes.startup import StartupMessage
from eqfuzz.run.protocol import Channel, RunnerFailed, ServerLost, describe_status, one_line, readable
from eqfuzz.run.sandbox.launcher import Sandbox

_PATIENCE_TO_FORK = 60.0
_PATIENCE_TO_END = 4.0
_LOG_BYTES = 2000


class ChildHandle:
    """A child that a server has forked. ``status`` is None while it lives and when it is ``lost``.

    ``lost``: the server died first, so nobody knows how this one ended (the kernel kills it, too). ``why``: what the
    keeper of a sandbox ended it for. ``pid`` is None, too, where it was gone before anybody looked.
    """

    def __init__(self, fate: int, server: ForkServerHandle) -> None:
        self.fate = fate
        self._server = server
        self.pid: int | None = None
        self.status: int | None = None
        self.cpu_seconds = 0.0
        self.born = False
        self.why: str | None = None
        self.lost = False
        self.failed: str | None = None
        self._text = b""

    @property
    def over(self) -> bool:
        """Whether there is nothing more to hear."""
        return self.status is not None or self.lost or self.failed is not None

    def read(self) -> None:
        """Take in what the server has said, without waiting."""
        while not self.over and readable([self.fate], 0):
            data = os.read(self.fate, 4096)
            if not data:
                self.lost = True
                return
            self._text += data
            *lines, self._text = self._text.split(b"\n")
            for line in lines:
                self._take(json.loads(line))

    def _take(self, line: dict[str, Any]) -> None:
        if "pid" in line:
            self.pid = self._server.seen_from_here(line["pid"])
            self.born = True
        elif "failed" in line:
            self.failed = line["failed"]
        elif self._server.closed:
            # It was killed with its server, which says nothing about its case.
            self.lost = True
        else:
            self.status, self.cpu_seconds, self.why = line["status"], line["cpu_seconds"], line["why"]
            self._server.retired |= line["retired"]

    def wait(self, seconds: float) -> bool:
        """Wait until it is over, at most so long. Returns whether it is."""
        patience = time.monotonic() + seconds
        while not self.over:
            left = patience - time.monotonic()
            if left <= 0 or not readable([self.fate], left):
                break
            self.read()
        return self.over

    def ask_where(self) -> None:
        """Have it write its Python stack and die, if it still can."""
        if self.pid is not None and not self.over:
            try:
                os.kill(self.pid, signal.SIGXCPU)
            except ProcessLookupError:
                return
            self.wait(0.5)

    def kill(self) -> None:
        """Kill it with all that it started, and wait for the server to say so."""
        if self.pid is not None and not self.over:
            kill_family(self.pid)
            self.wait(_PATIENCE_TO_END)
        if self.pid is not None and (self.lost or not self.over):
            # Nobody has reaped its group for us.
            kill_group(self.pid)
            kill(self.pid)
        if self.pid is None and not self.over and not self.wait(_PATIENCE_TO_END):
            self._server.close()  # it cannot be reached by itself
            self.lost = True
        if not self.over:
            self._server.retired = True  # it has not said whether it forks another

    def close(self) -> None:
        """Kill it if it lives, and forget it."""
        self.kill()
        os.close(self.fate)


class ForkServerHandle:
    """One forking process: ``eqfuzz.run.processes.zygote`` or ``eqfuzz.run.processes.worker``. Starts at construction.

    With an ``enclosure`` it lives in that, and closes it. ``retired``: it forks no more, or nobody knows. Raises
    ``RunnerFailed`` if it does not start. ``fork`` may be called from several threads.
    """

    def __init__(
        self,
        module: str,
        hello: StartupMessage,
        environment: Environment,
        start_s: float,
        closing: threading.Event,
        enclosure: Sandbox | None = None,
    ) -> None:
        self.enclosure = enclosure
        self._lock = threading.Lock()
        self._ready = False
        self.closed = False
        self.retired = False
        temporary = environment.temporary_dir()
        temporary.mkdir(parents=True, exist_ok=True)
        self._log: IO[bytes] = tempfile.TemporaryFile(dir=temporary)  # noqa: SIM115 - lives as long as the server
        self.channel, theirs = Channel.pair()
        try:
            if enclosure is not None:
                self._process = enclosure.start(module, theirs.fileno(), self._log)
            else:
                self._process = subprocess.Popen(
                    [sys.executable, "-m", module, str(theirs.fileno())],
                    # `-m` looks here first; the process changes to its own folder when it has been told.
                    cwd=Path(eqfuzz.__file__).parents[1],
                    env=environment.variables(cuda=hello.cuda),
                    stdin=subprocess.DEVNULL,
                    stdout=self._log,
                    stderr=self._log,
                    pass_fds=[theirs.fileno()],
                    start_new_session=True,
                )
        except OSError:
            self.channel.close()
            self._log.close()
            raise
        finally:
            theirs.close()
        try:
            self.channel.send(dataclasses.asdict(enclosure.hello(hello) if enclosure is not None else hello))
            await_ready(self.channel, start_s, closing, self.last_words)
            self._ready = True
        except BaseException as error:
            self.close()
            if isinstance(error, OSError):
                raise RunnerFailed(f"{module} ended while starting: {self.last_words()}") from error
            raise

    @property
    def alive(self) -> bool:
        """Whether the process runs."""
        return self._process.poll() is None

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    def last_words(self) -> str:
        """How the process ended and the end of what it printed, in one line."""
        # Its channel closes a little before it can be waited for.
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(0.5)
        code = self._process.poll()
        status = None if code is None else -code if code < 0 else code << 8
        return self.explain(status)

    def explain(self, status: int | None) -> str:
        """In one line, what a wait status says, and the end of what this process and idle workers printed."""
        ended = "it is still running" if status is None else describe_status(status)[1]
        size = os.fstat(self._log.fileno()).st_size
        # The process writes at the file's own offset, so ours must not move it.
        tail = os.pread(self._log.fileno(), _LOG_BYTES, max(0, size - _LOG_BYTES))
        text = one_line(tail.decode(errors="replace"), _LOG_BYTES)
        return f"{ended}: {text}" if text else ended

    def fork(self, message: dict[str, Any], descriptors: list[int]) -> ChildHandle:
        """Have a child made that gets ``message`` and ``descriptors``. Raises ``ServerLost``."""
        fate, theirs = os.pipe()
        process = ChildHandle(fate, self)
        try:
            with self._lock:
                self.channel.send(message, [theirs, *descriptors])
        except OSError as error:
            os.close(fate)
            raise ServerLost(str(error)) from error
        finally:
            os.close(theirs)
        patience = time.monotonic() + _PATIENCE_TO_FORK
        while not process.born and not process.over and time.monotonic() < patience:
            if readable([fate], 1.0):
                process.read()
        if not process.born:
            os.close(fate)
            raise ServerLost(process.failed or "it does not answer")
        return process

    def close(self) -> None:
        """End it and, with it, its children. Nothing of it runs when this returns."""
        self.closed = True
        self.channel.close()
        try:
            # Before it is ready it does not listen.
            self._process.wait(_PATIENCE_TO_END if self._ready else 0.0)
        except subprocess.TimeoutExpired:
            kill_family(self._process.pid)
            self._process.wait()
        finally:
            # Programs that it started itself, such as the compiler at the first start.
            kill_group(self._process.pid)
            if self.enclosure is not None:
                self.enclosure.close()

    def seen_from_here(self, pid: int) -> int | None:
        """The process id, here, of the child that the process itself calls ``pid``; None when it is gone."""
        if self.enclosure is None or not self.enclosure.namespaced:
            return pid
        inside = (child for first in children_of(self._process.pid) for child in children_of(first))
        return next((child for child in inside if innermost_number(child) == pid), None)


def await_ready(
    channel: Channel, seconds: float, closing: threading.Event, explain: Callable[[], str]
) -> dict[str, Any]:
    """Wait for a new process to say that it is ready, and return what it said.

    Raises ``RunnerFailed`` with what it said instead, or with ``explain()``.
    """
    patience = time.monotonic() + seconds
    while not closing.is_set():
        try:
            packet = channel.receive(0.25)
        except TimeoutError:
            if time.monotonic() > patience:
                raise RunnerFailed(f"a process was not ready after {seconds:g} seconds: {explain()}") from None
            continue
        if packet is None:
            raise RunnerFailed(f"a process ended while it started: {explain()}")
        message, _ = packet
        if message["event"] != "ready":
            raise RunnerFailed(str(message.get("message")))
        return message
    raise RunnerFailed("the pool was closed while a process started")
