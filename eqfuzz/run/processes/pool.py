"""Cases in, events out: the parent's view of all the processes that run cases."""

from __future__ import annotations

import contextlib
import logging
import sys
import threading
import time
from collections.abc import Iterator
from types import TracebackType
from typing import Any, Literal, Self

from eqfuzz.run.environment import Environment
from eqfuzz.run.kernels.toolchain import furnish, keep, place
from eqfuzz.run.limits import Limits
from eqfuzz.run.processes.case_monitor import CaseMonitor, CasePipes
from eqfuzz.run.processes.cpu_affinity import Cores
from eqfuzz.run.processes.fork_client import ChildHandle, ForkServerHandle, await_ready
from eqfuzz.run.processes.startup import StartupMessage
from eqfuzz.run.protocol import EXIT, RESTART, Channel, Event, RunnerFailed, ServerLost
from eqfuzz.run.sandbox.event_validation import EventValidator
from eqfuzz.run.sandbox.launcher import Sandbox, runs_without

_MODULES = {"fork": "eqfuzz.run.processes.zygote", "spawn": "eqfuzz.run.processes.worker"}
_PATIENCE_TO_SETTLE = 30.0
_log = logging.getLogger(__name__)


class Worker:
    """A process that runs one case after another. Raises ``RunnerFailed`` or ``ServerLost`` at its start."""

    def __init__(self, server: ForkServerHandle, start_s: float, closing: threading.Event) -> None:
        self.channel, theirs = Channel.pair()
        try:
            self.process: ChildHandle = server.fork({}, [theirs.fileno()])
        except BaseException:
            self.channel.close()
            raise
        finally:
            theirs.close()

        self._server = server

        def explain() -> str:
            self.process.wait(0.5)
            return self.ended()

        try:
            self.cpu_total: float = await_ready(self.channel, start_s, closing, explain)["cpu_total"]
        except BaseException as error:
            self.close()
            if self.process.lost:
                raise ServerLost("it died while a worker started") from error
            raise

    def settled(self) -> bool:
        """Whether it has put everything back since its last case and can take another."""
        self.process.read()
        if self.process.over:
            _log.info("a worker is gone: %s", "nobody knows how it ended" if self.process.lost else self.ended())
            return False
        try:
            packet = self.channel.receive(_PATIENCE_TO_SETTLE)
        except TimeoutError:
            _log.info("a worker is replaced: it was not ready again after %g s", _PATIENCE_TO_SETTLE)
            return False
        event: dict[str, Any] = packet[0] if packet is not None else {"event": "closed"}
        if event["event"] != "idle":
            _log.info("a worker is replaced: %s", event.get("detail", event["event"]))
            return False
        self.cpu_total = event["cpu_total"]
        return True

    def ended(self) -> str:
        """How it ended and the last that it printed, in one line."""
        return self._server.explain(self.process.status)

    def send(self, wires: CasePipes) -> bool:
        """Give it a case. False when it is not there any more."""
        try:
            self.channel.send(wires.message(), wires.descriptors())
        except OSError:
            return False
        return True

    def close(self) -> None:
        """Kill it."""
        self.channel.close()
        self.process.close()


class Pool:
    """Runs cases in children that can hang, crash or eat their memory without harm to anybody else.

    ``runner="fork"`` forks a child for each case from one warm process (CPU only); ``"spawn"`` keeps ``jobs``
    processes that run many cases each (CUDA cannot be forked); None forks where the device allows it. At most ``jobs``
    cases run at a time; further calls of ``run`` wait. ``target`` names ``run_case(case, emit)`` as
    ``module:function``. ``warm=False`` is for cases that do not use the compiler: its import and first compile are
    left out of the start.

    A case whose program is untrusted runs in a sandbox, of which there are as many as run at once, whatever ``runner``
    is; where there can be none, an ``unsafe`` environment lets it run without.

    ``run`` may be called from several threads. Use as a context manager, or call ``close``.
    """

    def __init__(
        self,
        environment: Environment,
        limits: Limits,
        *,
        runner: Literal["fork", "spawn"] | None = None,
        jobs: int,
        cuda: bool = False,
        target: str = "eqfuzz.run.jobs.dispatch:run_case",
        warm: bool = True,
    ) -> None:
        runner = runner or ("spawn" if cuda else "fork")
        if runner not in _MODULES:
            raise ValueError(f"runner is 'fork' or 'spawn', not {runner!r}")
        if runner == "fork" and cuda:
            raise ValueError("CUDA cannot be used in a forked process: runner='spawn' it must be")
        if sys.platform != "linux":
            raise RunnerFailed(f"running cases needs Linux (prctl, /proc, seqpacket sockets), not {sys.platform}")
        if jobs < 1:
            raise ValueError(f"jobs is at least 1, not {jobs}")
        self._environment = environment
        self._limits = limits
        self._runner = runner
        self._cuda = cuda
        self._target = target
        self._warm = warm
        self._slots = threading.BoundedSemaphore(jobs)
        self._cores = Cores(jobs)
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._server: ForkServerHandle | None = None
        self._is_kept = True
        self._idle: list[Worker] = []
        self._sandboxes: list[ForkServerHandle] = []
        self._free_sandboxes: list[ForkServerHandle] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def run(self, case: dict[str, Any]) -> Iterator[Event]:
        """The events of one case as they come. The last is ``exit``::

            {"event": "exit", "reason": "done"|"crash"|"hang"|"output"|"memory"|"error", "detail": one line,
             "stage": name or None, "cpu_seconds": x, "wall_seconds": x, "output": last 4 KiB printed, and stack}

        If the process that children are forked from dies, the case is run again, once, after an event
        ``{"event": "restart", "detail": ...}``: what came before it is void. Stopping early kills the case.
        Raises ``RunnerFailed`` when the processes do not start, ``SandboxUnavailable`` when the program is untrusted
        and there is no sandbox for it, ``TypeError`` for a case that is no JSON.
        """
        with self._slots:
            if self._closing.is_set():
                raise RunnerFailed("the pool is closed")
            started = time.monotonic()
            try:
                yield from self._attempt(case)
                return
            except ServerLost as lost:
                yield {"event": RESTART, "detail": str(lost)}
            try:
                yield from self._attempt(case)
            except (ServerLost, RunnerFailed) as lost:
                yield {
                    "event": EXIT,
                    "reason": "error",
                    "detail": f"the process that runs the cases was lost twice: {lost}",
                    "stage": None,
                    "cpu_seconds": 0.0,
                    "wall_seconds": time.monotonic() - started,
                    "output": "",
                }

    def close(self) -> None:
        """Kill everything. Threads that are inside ``run`` get an ``exit`` event with reason ``error``."""
        self._closing.set()
        with self._lock:
            for worker in self._idle:
                worker.close()
            self._idle.clear()
            for sandbox in self._sandboxes:
                sandbox.close()
            self._sandboxes.clear()
            self._free_sandboxes.clear()
            if self._server is not None:
                self._server.close()
                self._server = None

    def _attempt(self, case: dict[str, Any]) -> Iterator[Event]:
        if self._is_to_be_shut_in(case):
            yield from self._run_shut_in(case)
            return
        wires = CasePipes(case, self._environment.temporary_dir())
        with contextlib.closing(wires):
            server = self._serving()
            try:
                if self._runner == "fork":
                    yield from self._watch_alone(server, wires)
                else:
                    yield from self._run_spawned(server, wires)
            except ServerLost as lost:
                if self._closing.is_set():
                    raise RunnerFailed("the pool was closed while the case ran") from lost
                words = self._discard(server)
                raise ServerLost(f"{lost}: {words}") from lost

    def _watch_alone(
        self, server: ForkServerHandle, wires: CasePipes, screening: EventValidator | None = None
    ) -> Iterator[Event]:
        with self._cores.one() as core:
            process = server.fork({**wires.message(), "core": core}, wires.descriptors())
            wires.sent()
            with contextlib.closing(process):
                watch = CaseMonitor(wires, process, self._limits, self._closing, alone=True, screening=screening)
                yield from watch.events()

    def _run_spawned(self, server: ForkServerHandle, wires: CasePipes) -> Iterator[Event]:
        worker = self._take_worker(server)
        while not worker.send(wires):
            worker.close()
            worker = self._take_worker(server)
        watch: CaseMonitor | None = None
        try:
            wires.sent()
            watch = CaseMonitor(
                wires, worker.process, self._limits, self._closing, alone=False, cpu_before=worker.cpu_total
            )
            yield from watch.events()
        finally:
            # Whoever listens may stop at the last event, which leaves this generator where it stands.
            done = watch is not None and watch.finished is not None and not worker.process.over
            with self._lock:
                keep = done and not self._closing.is_set()
                if keep:
                    self._idle.append(worker)
            if not keep:
                worker.close()

    def _is_to_be_shut_in(self, case: dict[str, Any]) -> bool:
        program = case.get("program")
        untrusted = isinstance(program, dict) and bool(program.get("untrusted"))
        return untrusted and not runs_without(self._environment)

    def _run_shut_in(self, case: dict[str, Any]) -> Iterator[Event]:
        """Run a case that is not trusted, in a sandbox that runs no other meanwhile."""
        server = self._take_sandbox()
        assert server.enclosure is not None
        try:
            with contextlib.closing(CasePipes(case, server.enclosure.cases())) as wires:
                yield from self._watch_alone(server, wires, EventValidator(case))
        except ServerLost as lost:
            if self._closing.is_set():
                raise RunnerFailed("the pool was closed while the case ran") from lost
            server.close()
            raise ServerLost(f"{lost}: {server.last_words()}") from lost
        finally:
            self._give_back(server)

    def _take_sandbox(self) -> ForkServerHandle:
        """One that no case runs in, started if there is none. Raises SandboxUnavailable and RunnerFailed."""
        with self._lock:
            if self._closing.is_set():
                raise RunnerFailed("the pool is closed")
            while self._free_sandboxes:
                server = self._free_sandboxes.pop()
                if server.alive:
                    return server
                self._forget(server)
        enclosure = Sandbox(self._environment, warm=self._warm)
        if enclosure.single and not self._cuda and self._serving() and place() is not None:
            enclosure.close()  # a process outside has made what a sandbox can share
            enclosure = Sandbox(self._environment, warm=self._warm)
        try:
            server = ForkServerHandle(
                _MODULES["fork"], self._hello(), self._environment, self._limits.start_s, self._closing, enclosure
            )
        except BaseException:
            enclosure.close()
            raise
        with self._lock:
            self._sandboxes.append(server)
            if self._closing.is_set():
                server.close()
                raise RunnerFailed("the pool is closed")
        return server

    def _give_back(self, server: ForkServerHandle) -> None:
        with self._lock:
            if server.alive and not server.closed and not server.retired and not self._closing.is_set():
                self._free_sandboxes.append(server)
            else:
                self._forget(server)

    def _forget(self, server: ForkServerHandle) -> None:
        server.close()
        if server in self._sandboxes:
            self._sandboxes.remove(server)

    def _take_worker(self, server: ForkServerHandle) -> Worker:
        while True:
            with self._lock:
                worker = self._idle.pop() if self._idle else None
            if worker is None:
                worker = Worker(server, self._limits.start_s, self._closing)
                self._keep_toolchain()
                return worker
            if worker.settled():
                return worker
            worker.close()

    def _serving(self) -> ForkServerHandle:
        """The process that forks, started if there is none."""
        with self._lock:
            if self._closing.is_set():
                raise RunnerFailed("the pool is closed")
            if self._server is not None and not self._server.alive:
                self._server.close()
                self._server = None
            if self._server is None:
                self._is_kept = not self._warm or furnish(self._environment)
                self._server = ForkServerHandle(
                    _MODULES[self._runner], self._hello(), self._environment, self._limits.start_s, self._closing
                )
                if self._runner == "fork":
                    self._keep_toolchain()
            return self._server

    def _keep_toolchain(self) -> None:
        """Keep for later runs what the first process to get ready has made."""
        made, self._is_kept = not self._is_kept, True
        if made:
            keep(self._environment)

    def _hello(self) -> StartupMessage:
        preload = self._environment.preload
        temporary = self._environment.temporary_dir()
        return StartupMessage(
            target=self._target,
            path=list(sys.path),
            folder=str(temporary),
            preload=str(preload.absolute()) if preload is not None else None,
            memory_bytes=None if self._cuda else self._limits.memory_bytes,
            cuda=self._cuda,
            warm=self._warm,
        )

    def _discard(self, server: ForkServerHandle) -> str:
        """Give up a lost server and its workers, unless another thread has. Returns how it ended."""
        with self._lock:
            if self._server is server:
                server.close()
                self._server = None
                for worker in self._idle:
                    worker.close()
                self._idle.clear()
        return server.last_words()
