"""Pool of processes that run jobs: the parent's only way to start one."""

from __future__ import annotations

import contextlib
import logging
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any, Literal, TypeVar, cast

from eqfuzz.closeable import Closeable
from eqfuzz.run.environment import Environment
from eqfuzz.run.kernels.toolchain import furnish, keep, place
from eqfuzz.run.limits import Limits
from eqfuzz.run.messages.channel import Channel
from eqfuzz.run.messages.codec import decoder_of
from eqfuzz.run.messages.job import (
    ChildEvent,
    ChildExit,
    Job,
    JobReply,
    JobRestarted,
    ProgramInvalid,
    StageEntered,
)
from eqfuzz.run.messages.process_messages import ForkRequest, StartupMessage, WorkerIdle, WorkerRetired
from eqfuzz.run.processes.cpu_affinity import Cores
from eqfuzz.run.processes.cpu_meter import count_cpu
from eqfuzz.run.processes.fork_client import ChildHandle, ForkServerHandle, await_ready
from eqfuzz.run.processes.job_monitor import JobMonitor, JobPipes
from eqfuzz.run.protocol import RunnerFailed, ServerLost
from eqfuzz.run.sandbox.event_validation import EventValidator
from eqfuzz.run.sandbox.launcher import Sandbox, runs_without

_MODULES = {"fork": "eqfuzz.run.processes.zygote", "spawn": "eqfuzz.run.processes.worker"}
_SECONDS_TO_RESET = 30.0
_log = logging.getLogger(__name__)

A = TypeVar("A", bound=ChildEvent)


class Worker:
    """A process that runs one job after another. Raises ``RunnerFailed`` or ``ServerLost`` at its start."""

    def __init__(self, server: ForkServerHandle, start_s: float, closing: threading.Event) -> None:
        self.channel, theirs = Channel.pair()
        try:
            self.process: ChildHandle = server.fork(ForkRequest(), [theirs.fileno()])
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
            self.cpu_total: float = await_ready(self.channel, start_s, closing, explain).cpu_total
        except BaseException as error:
            self.close()
            if self.process.lost:
                raise ServerLost("it died while a worker started") from error
            raise

    def is_reset(self) -> bool:
        """Whether it has put everything back since its last job and can take another."""
        self.process.read()
        if self.process.over:
            _log.info("a worker has ended: %s", "how is unknown" if self.process.lost else self.ended())
            return False
        try:
            packet = self.channel.receive(decoder_of(WorkerIdle, WorkerRetired), _SECONDS_TO_RESET)
        except TimeoutError:
            _log.info("a worker is replaced: it was not ready again after %g s", _SECONDS_TO_RESET)
            return False
        match packet:
            case (WorkerIdle() as idle, _):
                self.cpu_total = idle.cpu_total
                return True
            case (WorkerRetired() as retired, _):
                _log.info("a worker is replaced: %s", retired.detail)
            case _:
                _log.info("a worker is replaced: it closed its channel")
        return False

    def ended(self) -> str:
        """How it ended and the end of its output, in one line."""
        return self._server.explain(self.process.status)

    def send(self, pipes: JobPipes) -> bool:
        """Send it a job. False when it has ended."""
        try:
            self.channel.send(pipes.request(), pipes.descriptors())
        except OSError:
            return False
        return True

    def close(self) -> None:
        """Kill it."""
        self.channel.close()
        self.process.close()


class Pool(Closeable):
    """Runs jobs in children that can hang, crash or exhaust their memory without harm to other processes.

    ``runner="fork"`` forks a child for each job from one warm process (CPU only); ``"spawn"`` keeps ``jobs``
    processes that run many jobs each (CUDA cannot be forked); None forks where the device allows it. At most ``jobs``
    jobs run at a time; further calls wait. ``target`` is the ``TARGET`` of all jobs of the pool. ``warm=False`` is for
    jobs that do not use the compiler: its import and first compile are left out of the start.

    A job whose program is untrusted runs in a sandbox, of which there are as many as run at once, whatever ``runner``
    is; where there can be none, an ``unsafe`` environment lets it run without.

    ``ask`` and ``stream`` may be called from several threads. Use as a context manager, or call ``close``.
    """

    def __init__(
        self,
        environment: Environment,
        limits: Limits,
        *,
        runner: Literal["fork", "spawn"] | None = None,
        jobs: int,
        cuda: bool = False,
        target: str = Job.TARGET,
        warm: bool = True,
    ) -> None:
        runner = runner or ("spawn" if cuda else "fork")
        if runner not in _MODULES:
            raise ValueError(f"runner is 'fork' or 'spawn', not {runner!r}")
        if runner == "fork" and cuda:
            raise ValueError("CUDA cannot be used in a forked process: use runner='spawn'")
        if sys.platform != "linux":
            raise RunnerFailed(f"running programs needs Linux (prctl, /proc, seqpacket sockets), not {sys.platform}")
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
        self.closing = threading.Event()
        """Set once the pool is closed."""
        self._server: ForkServerHandle | None = None
        self._is_kept = True
        self._idle: list[Worker] = []
        self._sandboxes: list[ForkServerHandle] = []
        self._free_sandboxes: list[ForkServerHandle] = []

    def ask(self, job: Job[A]) -> JobReply[A]:
        """Run the job to its end and return its last answer, if it gave one. Raises like ``stream``."""
        answer: A | None = None
        invalid: ProgramInvalid | None = None
        stage = "start"
        for event in self.stream(job):
            match event:
                case JobRestarted():
                    answer, invalid, stage = None, None, "start"
                case StageEntered():
                    stage = event.stage
                case ChildExit():
                    return JobReply(answer=answer, exit=event, stage=stage, invalid=invalid)
                case _ if isinstance(event, job.ANSWER):
                    answer = cast("A", event)
                case ProgramInvalid():
                    invalid = event
                case _:
                    pass
        raise AssertionError("the last event of a job is its exit")

    def stream(self, job: Job[Any]) -> Iterator[ChildEvent]:
        """The job's events as they come; the last is ``ChildExit``.

        If the process that children are forked from dies, the job is run again, once, after ``JobRestarted``: earlier
        events are void. Closing the iterator kills the child. Raises ``RunnerFailed`` when the processes do not start,
        ``SandboxUnavailable`` when the program is untrusted and there is no sandbox, ``TypeError`` for a job that JSON
        cannot express.
        """
        with self._slots:
            if self.closing.is_set():
                raise RunnerFailed("the pool is closed")
            started = time.monotonic()
            try:
                yield from self._metered(job)
                return
            except ServerLost as lost:
                yield JobRestarted(detail=str(lost))
            try:
                yield from self._metered(job)
            except (ServerLost, RunnerFailed) as lost:
                yield ChildExit(
                    reason="error",
                    detail=f"the process that runs the jobs was lost twice: {lost}",
                    wall_seconds=time.monotonic() - started,
                )

    def close(self) -> None:
        """Kill everything. Threads that wait for events get ``ChildExit`` with reason ``error``."""
        self.closing.set()
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

    def _metered(self, job: Job[Any]) -> Iterator[ChildEvent]:
        for event in self._attempt(job):
            if isinstance(event, ChildExit):
                count_cpu(event.cpu_seconds)
            yield event

    def _attempt(self, job: Job[Any]) -> Iterator[ChildEvent]:
        if job.is_untrusted and not runs_without(self._environment):
            yield from self._run_sandboxed(job)
            return
        pipes = JobPipes(job, self._environment.temporary_dir())
        with contextlib.closing(pipes):
            server = self._running_server()
            try:
                if self._runner == "fork":
                    yield from self._run_forked(server, job, pipes)
                else:
                    yield from self._run_spawned(server, job, pipes)
            except ServerLost as lost:
                if self.closing.is_set():
                    raise RunnerFailed("the pool was closed while the job ran") from lost
                words = self._discard(server)
                raise ServerLost(f"{lost}: {words}") from lost

    def _run_forked(
        self, server: ForkServerHandle, job: Job[Any], pipes: JobPipes, validator: EventValidator | None = None
    ) -> Iterator[ChildEvent]:
        with self._cores.one() as core:
            process = server.fork(pipes.request(core), pipes.descriptors())
            pipes.sent()
            with contextlib.closing(process):
                monitor = JobMonitor(job, pipes, process, self._limits, self.closing, forked=True, validator=validator)
                yield from monitor.events()

    def _run_spawned(self, server: ForkServerHandle, job: Job[Any], pipes: JobPipes) -> Iterator[ChildEvent]:
        worker = self._take_worker(server)
        while not worker.send(pipes):
            worker.close()
            worker = self._take_worker(server)
        monitor: JobMonitor | None = None
        try:
            pipes.sent()
            monitor = JobMonitor(
                job, pipes, worker.process, self._limits, self.closing, forked=False, cpu_before=worker.cpu_total
            )
            yield from monitor.events()
        finally:
            # The consumer may stop at the last event, which leaves this generator where it stands.
            done = monitor is not None and monitor.finished is not None and not worker.process.over
            with self._lock:
                keep = done and not self.closing.is_set()
                if keep:
                    self._idle.append(worker)
            if not keep:
                worker.close()

    def _run_sandboxed(self, job: Job[Any]) -> Iterator[ChildEvent]:
        """Run an untrusted job in a sandbox that runs no other meanwhile."""
        server = self._take_sandbox()
        assert server.sandbox is not None
        try:
            with contextlib.closing(JobPipes(job, server.sandbox.cases())) as pipes:
                yield from self._run_forked(server, job, pipes, EventValidator(job))
        except ServerLost as lost:
            if self.closing.is_set():
                raise RunnerFailed("the pool was closed while the job ran") from lost
            server.close()
            raise ServerLost(f"{lost}: {server.last_output()}") from lost
        finally:
            self._give_back(server)

    def _take_sandbox(self) -> ForkServerHandle:
        """A sandbox that no job runs in, started if there is none. Raises SandboxUnavailable and RunnerFailed."""
        with self._lock:
            if self.closing.is_set():
                raise RunnerFailed("the pool is closed")
            while self._free_sandboxes:
                server = self._free_sandboxes.pop()
                if server.alive:
                    return server
                self._forget(server)
        sandbox = Sandbox(self._environment, warm=self._warm)
        if sandbox.single and not self._cuda and self._running_server() and place() is not None:
            sandbox.close()  # a process outside has built what sandboxes can share
            sandbox = Sandbox(self._environment, warm=self._warm)
        try:
            server = ForkServerHandle(
                _MODULES["fork"], self._hello(), self._environment, self._limits.start_s, self.closing, sandbox
            )
        except BaseException:
            sandbox.close()
            raise
        with self._lock:
            self._sandboxes.append(server)
            if self.closing.is_set():
                server.close()
                raise RunnerFailed("the pool is closed")
        return server

    def _give_back(self, server: ForkServerHandle) -> None:
        with self._lock:
            if server.alive and not server.closed and not server.retired and not self.closing.is_set():
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
                worker = Worker(server, self._limits.start_s, self.closing)
                self._keep_toolchain()
                return worker
            if worker.is_reset():
                return worker
            worker.close()

    def _running_server(self) -> ForkServerHandle:
        """The fork server, started if there is none."""
        with self._lock:
            if self.closing.is_set():
                raise RunnerFailed("the pool is closed")
            if self._server is not None and not self._server.alive:
                self._server.close()
                self._server = None
            if self._server is None:
                self._is_kept = not self._warm or furnish(self._environment)
                self._server = ForkServerHandle(
                    _MODULES[self._runner], self._hello(), self._environment, self._limits.start_s, self.closing
                )
                if self._runner == "fork":
                    self._keep_toolchain()
            return self._server

    def _keep_toolchain(self) -> None:
        """Keep for later runs what the first process that got ready has built."""
        is_new, self._is_kept = not self._is_kept, True
        if is_new:
            keep(self._environment)

    def _hello(self) -> StartupMessage:
        preload = self._environment.preload
        temporary = self._environment.temporary_dir()
        return StartupMessage(
            target=self._target,
            path=tuple(sys.path),
            folder=str(temporary),
            preload=str(preload.absolute()) if preload is not None else None,
            memory_bytes=None if self._cuda else self._limits.memory_bytes,
            cuda=self._cuda,
            warm=self._warm,
        )

    def _discard(self, server: ForkServerHandle) -> str:
        """Close a lost server and its workers, unless another thread has. Returns how it ended."""
        with self._lock:
            if self._server is server:
                server.close()
                self._server = None
                for worker in self._idle:
                    worker.close()
                self._idle.clear()
        return server.last_output()
