"""The parent's side of a fork server: it starts one, requests children, and follows how they end."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO

import eqfuzz
from eqfuzz.errors import one_line
from eqfuzz.run.environment import Environment
from eqfuzz.run.messages.channel import Channel
from eqfuzz.run.messages.codec import MessageLines, decoder_of
from eqfuzz.run.messages.process_messages import (
    ChildEnded,
    ChildForked,
    ForkFailed,
    ForkRequest,
    ProcessReady,
    StartFailed,
    StartupMessage,
)
from eqfuzz.run.processes.process_tree import children_of, innermost_number, kill, kill_family, kill_group
from eqfuzz.run.protocol import BadMessage, RunnerFailed, ServerLost, describe_status, readable
from eqfuzz.run.sandbox.launcher import Sandbox

_SECONDS_TO_FORK = 60.0
_SECONDS_TO_END = 4.0
_LOG_BYTES = 2000


class ChildHandle:
    """A child that a server has forked. ``status`` is None while it lives and when it is ``lost``.

    ``lost``: the server died first, so how this one ended is unknown (the kernel kills it, too). ``why``: what the
    supervisor of a sandbox ended it for. ``pid`` is None, too, where the child ended before it was looked up.
    """

    def __init__(self, fate: int, server: ForkServerHandle) -> None:
        self.fate = fate
        self._server = server
        self.pid: int | None = None
        self.status: int | None = None
        self.cpu_seconds = 0.0
        self.forked = False
        self.why: str | None = None
        self.lost = False
        self.failed: str | None = None
        self._lines = MessageLines(decoder_of(ChildForked, ChildEnded, ForkFailed))

    @property
    def over(self) -> bool:
        """Whether the server will report no more about it."""
        return self.status is not None or self.lost or self.failed is not None

    def read(self) -> None:
        """Read what the server has reported, without waiting."""
        while not self.over and readable([self.fate], 0):
            data = os.read(self.fate, 4096)
            if not data:
                self.lost = True
                return
            try:
                for message in self._lines.feed(data):
                    self._take(message)
            except BadMessage:  # the server is no longer what it was
                self.lost = True

    def _take(self, message: ChildForked | ChildEnded | ForkFailed) -> None:
        match message:
            case ChildForked():
                self.pid = self._server.pid_outside(message.pid)
                self.forked = True
            case ForkFailed():
                self.failed = message.reason
            case ChildEnded() if self._server.closed:
                # It was killed with its server, which says nothing about its job.
                self.lost = True
            case ChildEnded():
                self.status, self.cpu_seconds, self.why = message.status, message.cpu_seconds, message.why
                self._server.retired |= message.retired

    def wait(self, seconds: float) -> bool:
        """Wait until it is over, at most so long. Returns whether it is."""
        deadline = time.monotonic() + seconds
        while not self.over:
            left = deadline - time.monotonic()
            if left <= 0 or not readable([self.fate], left):
                break
            self.read()
        return self.over

    def request_stack(self) -> None:
        """Let it write its Python stack and die, if it still can."""
        if self.pid is not None and not self.over:
            try:
                os.kill(self.pid, signal.SIGXCPU)
            except ProcessLookupError:
                return
            self.wait(0.5)

    def kill(self) -> None:
        """Kill it with all that it started, and wait for the server to report its end."""
        if self.pid is not None and not self.over:
            kill_family(self.pid)
            self.wait(_SECONDS_TO_END)
        if self.pid is not None and (self.lost or not self.over):
            # The server has not killed its group.
            kill_group(self.pid)
            kill(self.pid)
        if self.pid is None and not self.over and not self.wait(_SECONDS_TO_END):
            self._server.close()  # it cannot be reached by itself
            self.lost = True
        if not self.over:
            self._server.retired = True  # it has not reported whether it forks another

    def close(self) -> None:
        """Kill it if it lives."""
        self.kill()
        os.close(self.fate)


class ForkServerHandle:
    """A fork server: ``eqfuzz.run.processes.zygote`` or ``eqfuzz.run.processes.worker``. Started by the constructor.

    With a ``sandbox`` it runs in that, and closes it. ``retired``: it does not fork again, or that is not known. Raises
    ``RunnerFailed`` if it does not start. ``fork`` may be called from several threads.
    """

    def __init__(
        self,
        module: str,
        hello: StartupMessage,
        environment: Environment,
        start_s: float,
        closing: threading.Event,
        sandbox: Sandbox | None = None,
    ) -> None:
        self.sandbox = sandbox
        self._lock = threading.Lock()
        self._ready = False
        self.closed = False
        self.retired = False
        temporary = environment.temporary_dir()
        temporary.mkdir(parents=True, exist_ok=True)
        self._log: IO[bytes] = tempfile.TemporaryFile(dir=temporary)  # noqa: SIM115 - lives as long as the server
        self.channel, theirs = Channel.pair()
        try:
            if sandbox is not None:
                self._process = sandbox.start(module, theirs.fileno(), self._log)
            else:
                self._process = subprocess.Popen(
                    [sys.executable, "-m", module, str(theirs.fileno())],
                    # `-m` looks here first; the process changes to its own folder after the first packet.
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
            self.channel.send(sandbox.hello(hello) if sandbox is not None else hello)
            await_ready(self.channel, start_s, closing, self.last_output)
            self._ready = True
        except BaseException as error:
            self.close()
            if isinstance(error, OSError):
                raise RunnerFailed(f"{module} ended while starting: {self.last_output()}") from error
            raise

    @property
    def alive(self) -> bool:
        """Whether the process runs."""
        return self._process.poll() is None

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    def last_output(self) -> str:
        """How the process ended and the end of what it printed, in one line."""
        # Its channel closes a little before it can be waited for.
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(0.5)
        code = self._process.poll()
        status = None if code is None else -code if code < 0 else code << 8
        return self.explain(status)

    def explain(self, status: int | None) -> str:
        """In one line, what a wait status means, and the end of what this process and idle workers printed."""
        ended = "it is still running" if status is None else describe_status(status)[1]
        size = os.fstat(self._log.fileno()).st_size
        # The process writes at the file's own offset, so ours must not move it.
        tail = os.pread(self._log.fileno(), _LOG_BYTES, max(0, size - _LOG_BYTES))
        text = one_line(tail.decode(errors="replace"), _LOG_BYTES)
        return f"{ended}: {text}" if text else ended

    def fork(self, request: ForkRequest, descriptors: list[int]) -> ChildHandle:
        """Fork a child that gets ``request`` and ``descriptors``. Raises ``ServerLost``."""
        fate, theirs = os.pipe()
        process = ChildHandle(fate, self)
        try:
            with self._lock:
                self.channel.send(request, [theirs, *descriptors])
        except OSError as error:
            os.close(fate)
            raise ServerLost(str(error)) from error
        finally:
            os.close(theirs)
        deadline = time.monotonic() + _SECONDS_TO_FORK
        while not process.forked and not process.over and time.monotonic() < deadline:
            if readable([fate], 1.0):
                process.read()
        if not process.forked:
            os.close(fate)
            raise ServerLost(process.failed or "it does not answer")
        return process

    def close(self) -> None:
        """End it and, with it, its children. Nothing of it runs when this returns."""
        self.closed = True
        self.channel.close()
        try:
            # Before it is ready it does not read the channel.
            self._process.wait(_SECONDS_TO_END if self._ready else 0.0)
        except subprocess.TimeoutExpired:
            kill_family(self._process.pid)
            self._process.wait()
        finally:
            # Programs that it started itself, such as the compiler at the first start.
            kill_group(self._process.pid)
            if self.sandbox is not None:
                self.sandbox.close()

    def pid_outside(self, pid: int) -> int | None:
        """The process id, outside the sandbox, of the child that is ``pid`` inside; None when it has ended."""
        if self.sandbox is None or not self.sandbox.namespaced:
            return pid
        inside = (child for first in children_of(self._process.pid) for child in children_of(first))
        return next((child for child in inside if innermost_number(child) == pid), None)


def await_ready(channel: Channel, seconds: float, closing: threading.Event, explain: Callable[[], str]) -> ProcessReady:
    """Wait for a new process to report that it is ready.

    Raises ``RunnerFailed`` with what it reported instead, or with ``explain()``.
    """
    deadline = time.monotonic() + seconds
    decoder = decoder_of(ProcessReady, StartFailed)
    while not closing.is_set():
        try:
            packet = channel.receive(decoder, 0.25)
        except TimeoutError:
            if time.monotonic() > deadline:
                raise RunnerFailed(f"a process was not ready after {seconds:g} seconds: {explain()}") from None
            continue
        if packet is None:
            raise RunnerFailed(f"a process ended while it started: {explain()}")
        message, _ = packet
        if isinstance(message, StartFailed):
            raise RunnerFailed(message.message)
        return message
    raise RunnerFailed("the pool was closed while a process started")
