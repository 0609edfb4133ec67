"""Who does the items on many machines: the actors of a Ray cluster, one for each slot.

The store, planning, settling and sorting stay with the campaign's own process. An actor that dies, with its node or
alone, costs the item it holds, which is handed out again, and is made anew wherever there is room.
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
from eqfuzz.campaign.engine.disk_space import DISK_FULL, ROOM_SECONDS, DiskFullError
from eqfuzz.campaign.engine.knowledge import AHEAD
from eqfuzz.campaign.executors.file_transfer import ShippedConfiguration, unpack
from eqfuzz.campaign.executors.item_runner import ItemInterrupted, ItemResult
from eqfuzz.campaign.executors.local import ExecutorLost
from eqfuzz.campaign.executors.ray_worker import RayWorker, RemoteResult, UnfitNode
from eqfuzz.campaign.store.records import Item
from eqfuzz.errors import UsageError
from eqfuzz.events.campaign import CampaignBlocked, WorkerLost
from eqfuzz.events.event import Event
from eqfuzz.events.run import FindingReported
from eqfuzz.run.protocol import RunnerFailed, one_line
from eqfuzz.triage.findings.folder import keep, read_finding
from eqfuzz.triage.findings.versions import versions

REFUSALS = 3
"""Times that a slot's worker may refuse in a row before the slot is given up."""

FIRST_SECONDS = 300.0
"""Wall seconds after which the first worker should be there: on a new machine torch's header is compiled first."""

RETIRE_SECONDS = 8.0
LONGEST_PAUSE = 60.0
CONNECT_SECONDS = 5.0
OBJECT_STORE_BYTES = 100 * 2**20

QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_DEDUP_LOGS_SKIP_REGEX": ".",  # or Ray prints what befalls its workers, on stdout
}
"""Environment variables that Ray reads when it is imported or started."""

LOST = (RunnerFailed, OSError, MemoryError)
"""What a worker may raise that is its node's fault."""


@dataclasses.dataclass
class _Slot:
    """``beginning`` is Ray's reference to what ``begin`` returns; ``again`` is when the next worker may be hired."""

    actor: Any = None
    beginning: Any = None
    worker: str = ""
    refusals: int = 0
    failures: int = 0
    again: float = 0.0

    @property
    def given_up(self) -> bool:
        return self.refusals >= REFUSALS


class RayExecutor:
    """Does items in actors of a Ray cluster: one at ``address``, or a local one of ``jobs`` CPUs.

    ``jobs`` 0: one slot for each CPU of the cluster, or each GPU where the configuration asks for CUDA. Further slots
    than GPUs share them evenly. Returns when the first worker is ready. Raises UsageError.
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
        self._untold: list[WorkerLost] = []
        try:
            self.slots, self._resources = shares(self._ray.cluster_resources(), configuration, jobs)
            self._slots = [_Slot() for _ in range(self.slots)]
            self._actor_class = self._ray.remote(RayWorker)
            self._luggage = self._ray.put(ShippedConfiguration.of(configuration))
            self._await_first()
        except OSError as error:
            self.close()
            raise UsageError(f"{error.filename}: {error.strerror}") from None
        except BaseException:
            self.close()
            raise

    def ready(self, slot: int, emit: Callable[[Event], None]) -> bool:
        """Whether the slot has a worker; one is hired where it has not. May wait a second for it.

        Raises RunnerFailed once all slots are given up.
        """
        with self._lock:
            told, self._untold = self._untold, []
        for event in told:
            emit(event)
        return self._begins(slot, emit)

    def _begins(self, slot: int, emit: Callable[[WorkerLost], None]) -> bool:
        one = self._slots[slot]
        if one.worker:
            return True
        if all(other.given_up for other in self._slots):
            raise RunnerFailed("every worker of the Ray cluster refuses")
        if one.given_up or self._closing or time.monotonic() < one.again:
            return False
        if one.actor is None:
            self._hire(one)
        ray = self._ray
        begun, _ = ray.wait([one.beginning], timeout=1.0)
        if not begun:
            return False
        try:
            one.worker = ray.get(one.beginning)
        except ray.exceptions.RayTaskError as error:
            if not isinstance(error.cause, UnfitNode | ValueError | LOST):
                raise error.cause from None
            one.refusals += 1
            emit(WorkerLost(f"ray/{slot}", one_line(str(error.cause)) + ("; given up" if one.given_up else "")))
            self._dismiss(one)
        except ray.exceptions.RayError as error:
            emit(WorkerLost(f"ray/{slot}", f"while it began: {_cause(error)}"))
            self._dismiss(one)
        else:
            one.refusals = one.failures = 0
        return bool(one.worker)

    def perform(
        self,
        slot: int,
        item: Item,
        text: str,
        index: int,
        emit: Callable[[Event], None],
        stop: threading.Event,
    ) -> ItemResult:
        one, ray = self._slots[slot], self._ray
        with self._flight():
            try:
                done = self._done(one, item, text, index, emit, stop)
            except ray.exceptions.RayError as error:
                if stop.is_set():
                    raise ItemInterrupted from None
                if isinstance(error, ray.exceptions.RayTaskError) and not isinstance(error.cause, LOST):
                    raise error.cause from None
                worker = one.worker
                self._dismiss(one)
                raise ExecutorLost(f"{worker}: {_cause(error)}") from None
            for event in done.events:
                emit(event)
            return self._received(done)

    def close(self) -> None:
        with self._lock:
            first, self._closing = not self._closing, True
        if first:
            self._retire()
        with self._lock:
            if self._in_flight or self._over:
                return  # whoever is in flight comes back now that its worker is gone; the last call ends the rest
            self._over = True
        self._ray.shutdown()
        if self._temporary is not None:
            shutil.rmtree(self._temporary, ignore_errors=True)
            shutil.rmtree(self._home, ignore_errors=True)

    def workers(self) -> list[str]:
        """``host/process id/start`` of the workers that are there."""
        return [one.worker for one in self._slots if one.worker]

    def _await_first(self) -> None:
        told: list[WorkerLost] = []
        until = time.monotonic() + FIRST_SECONDS
        while not any(self._begins(slot, told.append) for slot in range(self.slots)):
            too_late = time.monotonic() > until
            if told and (too_late or all(one.failures for one in self._slots)):
                raise UsageError(f"no worker of the Ray cluster begins: {told[-1].detail}")
            if too_late:
                wanted = ", ".join(f"{amount:g} {name}" for name, amount in self._resources.items())
                raise UsageError(
                    f"no worker of the Ray cluster began within {FIRST_SECONDS:g} s: each needs {wanted}; "
                    "`ray status` tells what is free"
                )
        self._untold = told

    def _hire(self, one: _Slot) -> None:
        # Retiring must get through while an item is done.
        options = self._actor_class.options(
            num_cpus=self._resources["CPU"],
            num_gpus=self._resources.get("GPU", 0),
            max_concurrency=2,
            max_restarts=0,
            scheduling_strategy="SPREAD",
        )
        one.actor = options.remote(self._luggage, self._home, str(self._out), versions())
        one.beginning = one.actor.begin.remote()

    def _dismiss(self, one: _Slot) -> None:
        actor, one.actor, one.beginning, one.worker = one.actor, None, None, ""
        one.failures += 1
        one.again = time.monotonic() + min(2.0 ** (one.failures - 1), LONGEST_PAUSE)
        with contextlib.suppress(self._ray.exceptions.RayError):
            self._ray.kill(actor)

    def _done(
        self,
        one: _Slot,
        item: Item,
        text: str,
        index: int,
        emit: Callable[[Event], None],
        stop: threading.Event,
    ) -> RemoteResult:
        """Raises CutOff, and Ray's errors."""
        waited = False
        while True:
            try:
                done = self._ray.get(one.actor.perform.remote(item, text, index))
            except self._ray.exceptions.RayTaskError as error:
                if not isinstance(error.cause, DiskFullError):
                    raise
                emit(CampaignBlocked(DISK_FULL, str(error.cause), ROOM_SECONDS))
                waited = True
                if stop.wait(ROOM_SECONDS):
                    raise ItemInterrupted from None
                continue
            if waited:
                emit(CampaignBlocked("", "", 0.0))
            return done

    def _received(self, done: RemoteResult) -> ItemResult:
        """With the findings' folders on this machine. Raises OSError."""
        folders = {event.folder: self._out / event.folder for event in done.performed.findings}
        known = {name for name, folder in folders.items() if folder.exists()}
        unpack(done.parcel, self._out)
        findings = [
            self._kept(event, folders[event.folder], event.folder in known) for event in done.performed.findings
        ]
        return dataclasses.replace(done.performed, findings=tuple(findings))

    def _kept(self, event: FindingReported, folder: Path, known: bool) -> FindingReported:
        """What an earlier item has written stays, unless it was cut off before its place was known."""
        finding = read_finding(folder)
        if known and not finding.fingerprint and event.finding.fingerprint:
            finding = event.finding
            keep(folder, finding)
        return dataclasses.replace(event, finding=finding, folder=str(folder), known=known)

    def _retire(self) -> None:
        ray = self._ray
        slots = [one for one in self._slots if one.actor is not None]
        retiring = [one.actor.retire.remote() for one in slots if one.worker]
        if retiring:
            ray.wait(retiring, num_returns=len(retiring), timeout=RETIRE_SECONDS)
        for one in slots:
            with contextlib.suppress(ray.exceptions.RayError):
                ray.kill(one.actor)

    @contextlib.contextmanager
    def _flight(self) -> Iterator[None]:
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
    """How many workers there are, and what each has of a cluster's ``resources``. Raises UsageError.

    No more workers than seeds that a campaign hands out before it has learnt from the first of them.
    """
    cpus, gpus = int(resources.get("CPU", 0)), int(resources.get("GPU", 0))
    each = {"CPU": 1.0}
    workers = jobs or cpus
    if "cuda" in configuration.compiling.devices:
        if not gpus:
            raise UsageError(
                "device cuda: the Ray cluster has no GPU (`ray start --num-gpus` says how many a node has)"
            )
        workers = jobs or gpus
        each["GPU"] = 1.0 if workers <= gpus else math.floor(10_000 / math.ceil(workers / gpus)) / 10_000
    if not workers:
        raise UsageError(
            "the Ray cluster has no CPU: start nodes with --num-cpus, or say with --jobs how many to await"
        )
    most = AHEAD * configuration.feedback.epoch
    if workers > most:
        raise UsageError(
            f"{workers} workers, but no more than {most} seeds are run at once: "
            f"set feedback.epoch to {math.ceil(workers / AHEAD)} or more, or --jobs {most} or less"
        )
    return workers, each


def _connected(jobs: int, address: str) -> tuple[Any, Path | None]:
    """Ray, joined to a cluster, and the folder of a local one's logs. Raises UsageError."""
    own = {} if address else {"RAY_AUTH_TOKEN": secrets.token_hex(32)}  # or Ray keeps one in the home
    for name, value in {**QUIET, **own}.items():
        os.environ.setdefault(name, value)
    try:
        import ray
    except ImportError:
        raise UsageError("--executor ray: Ray is not installed: pip install 'eqfuzz[ray]'") from None
    host, _, port = address.rpartition(":")
    if host and port.isdecimal() and "/" not in address:
        # Ray itself tries for minutes, and then ends the process.
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
    """A new folder whose name leaves room for Ray's sockets, whose whole path may have 107 bytes."""
    longest = 107 - len("/eqfuzz-ray-12345678/session_2026-01-01_00-00-00_000000_1234567/sockets/plasma_store")
    usual = tempfile.gettempdir()
    made = Path(tempfile.mkdtemp(prefix="eqfuzz-ray-", dir=usual if len(usual.encode()) <= longest else "/tmp"))
    atexit.register(shutil.rmtree, made, ignore_errors=True)  # after Ray's own, which ends what may still write there
    return made


def _cause(error: Exception) -> str:
    """One line of what Ray tells about a lost worker in many."""
    cause = getattr(error, "cause", None)
    if isinstance(cause, BaseException):
        return one_line(f"{type(cause).__name__}: {cause}", 300)
    lines = str(error).splitlines() or [type(error).__name__]
    exact = [line for line in lines if line.startswith("The actor is dead because")]
    return one_line([*exact, *lines][0].partition(". ")[0], 300)
