"""Executor on a Ray cluster: one actor per slot.

The campaign's own process keeps the store, plans and commits epochs, and puts findings into buckets. When an actor
dies, alone or with its node, its item is run again, and a new actor starts where the cluster has resources.
"""

from __future__ import annotations

import atexit
import contextlib
import dataclasses
import logging
import math
import os
import secrets
import shutil
import signal
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from eqfuzz.campaign.configuration import Configuration
from eqfuzz.campaign.engine.disk_space import DISK_FULL, RECHECK_SECONDS, DiskFullError
from eqfuzz.campaign.engine.knowledge import AHEAD
from eqfuzz.campaign.executors.file_transfer import ShippedConfiguration, unpack
from eqfuzz.campaign.executors.item_runner import ItemInterrupted, ItemResult, WorkOrder
from eqfuzz.campaign.executors.local import ExecutorLost
from eqfuzz.campaign.executors.ray_worker import RayWorker, RemoteResult, UnfitNode
from eqfuzz.errors import UsageError, error_line, one_line
from eqfuzz.events.campaign import CampaignBlocked, WorkerLost
from eqfuzz.events.event import Handler
from eqfuzz.events.run import FindingReported
from eqfuzz.run.protocol import RunnerFailed
from eqfuzz.triage.findings.folder import read_finding, update_finding
from eqfuzz.triage.findings.versions import versions

UNFIT_LIMIT = 3
"""Unfit workers in a row after which a slot is disabled."""

FIRST_SECONDS = 300.0
"""Wall seconds for the first worker to start: on a new machine it compiles torch's header first."""

SHUTDOWN_SECONDS = 8.0
LONGEST_PAUSE = 60.0
CONNECT_SECONDS = 5.0
OBJECT_STORE_BYTES = 100 * 2**20

QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_DEDUP_LOGS_SKIP_REGEX": ".",  # or Ray prints the deaths of its workers to stdout
}
"""Environment variables that Ray reads when it is imported or started."""

LOST = (RunnerFailed, OSError, MemoryError)
"""Exceptions of a worker that are caused by its node."""


@dataclasses.dataclass
class _Slot:
    """One actor at a time, with the failures of those before it."""

    actor: Any = None
    starting: Any = None
    """Ray's reference to the value of the actor's ``start``."""
    worker: str = ""
    """Identifier of the worker once it has started."""
    unfit: int = 0
    """Unfit workers in a row."""
    failures: int = 0
    """Workers in a row that failed to start or were lost."""
    next_start: float = 0.0
    """Monotonic time from which the next actor may be started."""

    @property
    def is_disabled(self) -> bool:
        return self.unfit >= UNFIT_LIMIT


class RayExecutor:
    """Runs items in actors of the Ray cluster at ``address``, or of a local one with ``jobs`` CPUs.

    With ``jobs`` 0 there is one slot per CPU of the cluster, or per GPU where the configuration uses CUDA. More slots
    than GPUs share them evenly. Creating it waits for the first worker. Raises UsageError.
    """

    def __init__(self, configuration: Configuration, folder: Path, jobs: int, address: str) -> None:
        self._out = folder.resolve()
        self._home = "" if address else str(self._out / "workers")
        self._ray, self._temporary = _connected(jobs, address)
        self._lock = threading.Lock()
        self._in_flight = 0
        self._closing = False
        self._over = False
        self._slots: list[_Slot] = []
        self._unreported: list[WorkerLost] = []
        try:
            self.slots, self._resources = shares(self._ray.cluster_resources(), configuration, jobs)
            self._slots = [_Slot() for _ in range(self.slots)]
            self._actor_class = self._ray.remote(RayWorker)
            self._shipped = self._ray.put(ShippedConfiguration.of(configuration))
            self._await_first()
        except OSError as error:
            self.close()
            raise UsageError(f"{error.filename}: {error.strerror}") from None
        except BaseException:
            self.close()
            raise

    def ready(self, slot: int, emit: Handler) -> bool:
        """Whether the slot has a worker; starts one if not, and waits a second for it at most.

        Raises RunnerFailed once all slots are disabled.
        """
        with self._lock:
            events, self._unreported = self._unreported, []
        for event in events:
            emit(event)
        return self._has_worker(slot, emit)

    def _has_worker(self, slot: int, emit: Callable[[WorkerLost], None]) -> bool:
        one = self._slots[slot]
        if one.worker:
            return True
        if all(other.is_disabled for other in self._slots):
            raise RunnerFailed("no node of the Ray cluster is fit for the campaign")
        if one.is_disabled or self._closing or time.monotonic() < one.next_start:
            return False
        if one.actor is None:
            self._start_actor(one)
        ray = self._ray
        ready, _ = ray.wait([one.starting], timeout=1.0)
        if not ready:
            return False
        try:
            one.worker = ray.get(one.starting)
        except ray.exceptions.RayTaskError as error:
            if not isinstance(error.cause, UnfitNode | ValueError | LOST):
                raise error.cause from None
            one.unfit += 1
            detail = one_line(str(error.cause)) + ("; given up" if one.is_disabled else "")
            emit(WorkerLost(worker=f"ray/{slot}", detail=detail))
            self._dismiss(one)
        except ray.exceptions.RayError as error:
            emit(WorkerLost(worker=f"ray/{slot}", detail=f"while it started: {_cause(error)}"))
            self._dismiss(one)
        else:
            one.unfit = one.failures = 0
        return bool(one.worker)

    def perform(self, slot: int, order: WorkOrder, emit: Handler, stop: threading.Event) -> ItemResult:
        one, ray = self._slots[slot], self._ray
        with self._in_flight_item():
            try:
                remote = self._run_remotely(one, order, emit, stop)
            except ray.exceptions.RayError as error:
                if stop.is_set():
                    raise ItemInterrupted from None
                if isinstance(error, ray.exceptions.RayTaskError) and not isinstance(error.cause, LOST):
                    raise error.cause from None
                worker = one.worker
                self._dismiss(one)
                raise ExecutorLost(f"{worker}: {_cause(error)}") from None
            for event in remote.events:
                emit(event)
            return self._received(remote)

    def close(self) -> None:
        with self._lock:
            first, self._closing = not self._closing, True
        if first:
            self._shut_down_workers()
        with self._lock:
            if self._in_flight or self._over:
                return  # calls in flight return now that their workers are gone, and the last of them closes the rest
            self._over = True
        self._ray.shutdown()
        if self._temporary is not None:
            shutil.rmtree(self._temporary, ignore_errors=True)
            shutil.rmtree(self._home, ignore_errors=True)

    def workers(self) -> list[str]:
        """Identifiers of the running workers."""
        return [one.worker for one in self._slots if one.worker]

    def _await_first(self) -> None:
        losses: list[WorkerLost] = []
        until = time.monotonic() + FIRST_SECONDS
        while not any(self._has_worker(slot, losses.append) for slot in range(self.slots)):
            too_late = time.monotonic() > until
            if losses and (too_late or all(one.failures for one in self._slots)):
                raise UsageError(f"no worker of the Ray cluster starts: {losses[-1].detail}")
            if too_late:
                required = ", ".join(f"{amount:g} {name}" for name, amount in self._resources.items())
                raise UsageError(
                    f"no worker of the Ray cluster started within {FIRST_SECONDS:g} s: each needs {required}; "
                    "`ray status` lists free resources"
                )
        self._unreported = losses

    def _start_actor(self, one: _Slot) -> None:
        # Two calls at once: the worker must be able to shut down while an item runs.
        options = self._actor_class.options(
            num_cpus=self._resources["CPU"],
            num_gpus=self._resources.get("GPU", 0),
            max_concurrency=2,
            max_restarts=0,
            scheduling_strategy="SPREAD",
        )
        one.actor = options.remote(self._shipped, self._home, str(self._out), versions())
        one.starting = one.actor.start.remote()

    def _dismiss(self, one: _Slot) -> None:
        actor, one.actor, one.starting, one.worker = one.actor, None, None, ""
        one.failures += 1
        one.next_start = time.monotonic() + min(2.0 ** (one.failures - 1), LONGEST_PAUSE)
        with contextlib.suppress(self._ray.exceptions.RayError):
            self._ray.kill(actor)

    def _run_remotely(self, one: _Slot, order: WorkOrder, emit: Handler, stop: threading.Event) -> RemoteResult:
        """Run an item, again while the node's disk is full. Raises ItemInterrupted and Ray's errors."""
        waited = False
        while True:
            try:
                result = self._ray.get(one.actor.perform.remote(order))
            except self._ray.exceptions.RayTaskError as error:
                if not isinstance(error.cause, DiskFullError):
                    raise
                emit(CampaignBlocked(cause=DISK_FULL, detail=str(error.cause), seconds=RECHECK_SECONDS))
                waited = True
                if stop.wait(RECHECK_SECONDS):
                    raise ItemInterrupted from None
                continue
            if waited:
                emit(CampaignBlocked.over())
            return result

    def _received(self, remote: RemoteResult) -> ItemResult:
        """The result with the folders of its findings on this machine. Raises OSError."""
        events = remote.result.findings
        folders = {event.folder: self._out / event.folder for event in events}
        existing = {name for name, folder in folders.items() if folder.exists()}
        unpack(remote.files, self._out)
        findings = [self._unpacked(event, folders[event.folder], event.folder in existing) for event in events]
        return dataclasses.replace(remote.result, findings=tuple(findings))

    def _unpacked(self, event: FindingReported, folder: Path, existed: bool) -> FindingReported:
        """The event of a finding on this machine. A folder of an earlier item stays unless it lacks the fingerprint."""
        finding = read_finding(folder)
        if existed and not finding.fingerprint and event.finding.fingerprint:
            finding = event.finding
            update_finding(folder, finding)
        return dataclasses.replace(event, finding=finding, folder=str(folder), known=existed)

    def _shut_down_workers(self) -> None:
        ray = self._ray
        slots = [one for one in self._slots if one.actor is not None]
        calls = [one.actor.shut_down.remote() for one in slots if one.worker]
        if calls:
            ray.wait(calls, num_returns=len(calls), timeout=SHUTDOWN_SECONDS)
        for one in slots:
            with contextlib.suppress(ray.exceptions.RayError):
                ray.kill(one.actor)

    @contextlib.contextmanager
    def _in_flight_item(self) -> Iterator[None]:
        with self._lock:
            if self._closing:
                raise ItemInterrupted
            self._in_flight += 1
        try:
            yield
        finally:
            with self._lock:
                self._in_flight -= 1


def shares(resources: dict[str, float], configuration: Configuration, jobs: int) -> tuple[int, dict[str, float]]:
    """Number of workers, and the share of each in a cluster's ``resources``. Raises UsageError.

    There are no more workers than items that a campaign plans before it commits the first epoch.
    """
    cpus, gpus = int(resources.get("CPU", 0)), int(resources.get("GPU", 0))
    each = {"CPU": 1.0}
    workers = jobs or cpus
    if "cuda" in configuration.compiling.devices:
        if not gpus:
            raise UsageError(
                "device cuda: the Ray cluster has no GPU (`ray start --num-gpus` sets the number of a node)"
            )
        workers = jobs or gpus
        each["GPU"] = 1.0 if workers <= gpus else math.floor(10_000 / math.ceil(workers / gpus)) / 10_000
    if not workers:
        raise UsageError(
            "the Ray cluster has no CPU: start nodes with --num-cpus, or give the number of workers with --jobs"
        )
    most = AHEAD * configuration.feedback.epoch
    if workers > most:
        raise UsageError(
            f"{workers} workers, but at most {most} seeds run at once: "
            f"set feedback.epoch to {math.ceil(workers / AHEAD)} or more, or --jobs {most} or less"
        )
    return workers, each


def _connected(jobs: int, address: str) -> tuple[Any, Path | None]:
    """The module ``ray``, connected to a cluster, and the folder of a local cluster's logs. Raises UsageError."""
    own = {} if address else {"RAY_AUTH_TOKEN": secrets.token_hex(32)}  # or Ray writes one to the home folder
    for name, value in {**QUIET, **own}.items():
        os.environ.setdefault(name, value)
    try:
        import ray
    except ImportError:
        raise UsageError("--executor ray: Ray is not installed: pip install 'eqfuzz[ray]'") from None
    host, _, port = address.rpartition(":")
    if host and port.isdecimal() and "/" not in address:
        # Ray itself would try for minutes and then exit the process.
        try:
            socket.create_connection((host, int(port)), CONNECT_SECONDS).close()
        except (OSError, OverflowError) as error:
            raise UsageError(f"--ray-address: nothing answers at {address}: {error}") from None
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.CRITICAL}
    temporary = None
    before = signal.getsignal(signal.SIGTERM)
    try:
        if address:
            ray.init(address=address, **quiet)
        else:
            temporary = _short_folder()
            ray.init(
                num_cpus=jobs,
                include_dashboard=False,
                object_store_memory=OBJECT_STORE_BYTES,
                _temp_dir=str(temporary),
                **quiet,
            )
    except (Exception, SystemExit) as error:
        what = f"--ray-address {address}: " if address else "no local Ray cluster could be started: "
        raise UsageError(what + one_line(str(error), 300)) from None
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, before)  # Ray's own would end the process without its summary
    return ray, temporary


def _short_folder() -> Path:
    """A new folder with a short path: the paths of Ray's sockets below it may have 107 bytes."""
    longest = 107 - len("/eqfuzz-ray-12345678/session_2026-01-01_00-00-00_000000_1234567/sockets/plasma_store")
    usual = tempfile.gettempdir()
    folder = Path(tempfile.mkdtemp(prefix="eqfuzz-ray-", dir=usual if len(usual.encode()) <= longest else "/tmp"))
    # Runs after Ray's own handler, which ends the processes that write there.
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _cause(error: Exception) -> str:
    """One line from Ray's long message about a lost worker."""
    cause = getattr(error, "cause", None)
    if isinstance(cause, BaseException):
        return error_line(cause)
    lines = str(error).splitlines() or [type(error).__name__]
    exact = [line for line in lines if line.startswith("The actor is dead because")]
    return one_line([*exact, *lines][0].partition(". ")[0], 300)
