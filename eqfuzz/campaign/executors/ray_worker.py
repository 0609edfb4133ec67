"""What a Ray actor does: a workshop of one job, on a node that shares no disk with the campaign's own machine.

The actor's process only asks: the code under test runs in children of the process that its pool forks from, which end
with it. Nothing here knows Ray.
"""

from __future__ import annotations

import dataclasses
import shutil
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path

from eqfuzz.campaign.engine.disk_space import DiskFullError, enough_room
from eqfuzz.campaign.executors.file_transfer import Parcel, ShippedConfiguration, pack
from eqfuzz.campaign.executors.item_runner import ItemResult, ItemRunner
from eqfuzz.campaign.store.records import Item
from eqfuzz.campaign.worker_id import is_gone, worker_name
from eqfuzz.events.event import Event
from eqfuzz.events.run import CellJudged, FindingReported
from eqfuzz.mutate.self_check import CLEAN, case_of, shipped_program, verdicts_of
from eqfuzz.oracle.compare.verdict import VerdictKind
from eqfuzz.run.sandbox.launcher import SandboxUnavailable, require_level
from eqfuzz.triage.findings.versions import versions

_PREFIX = "eqfuzz-worker,"


class UnfitNode(Exception):
    """This node cannot do the campaign's work; ``str()`` says why in one line."""


@dataclasses.dataclass(frozen=True)
class RemoteResult:
    """An item done. The folders of its findings, and of flaky ones, are in ``parcel``, by their path below ``out``."""

    performed: ItemResult
    events: tuple[Event, ...]
    parcel: Parcel


class RayWorker:
    """Does the items of the campaign in ``luggage``, one at a time; ``retire`` may be called meanwhile.

    ``out`` is the campaign's folder on its own machine: what findings tell of this node's folders they tell of that.
    Everything is written to a folder of its own below ``home`` (empty: the node's temporary folder).
    """

    def __init__(self, luggage: ShippedConfiguration, home: str, out: str, made_with: Mapping[str, str]) -> None:
        self._luggage = luggage
        self._home = Path(home or tempfile.gettempdir())
        self._folder = self._home / (_PREFIX + worker_name().replace("/", ","))
        self._out = self._folder / "out"
        self._renamed = {str(self._out): out}
        self._made_with = made_with
        self._stop = threading.Event()
        self._workshop: ItemRunner | None = None

    def begin(self) -> str:
        """Start the processes and have them compile a program; the worker's name. Raises Refused and RunnerFailed."""
        ours = versions()
        named = [*self._made_with, *(name for name in ours if name not in self._made_with)]
        both = [(name, ours.get(name, "none"), self._made_with.get(name, "none")) for name in named]
        other = [f"{name} {here}, not {theirs}" for name, here, theirs in both if here != theirs]
        if other:
            raise UnfitNode(f"it has {', '.join(other)}")
        configuration = self._luggage.configuration
        if configuration.has_untrusted and not configuration.sources.unsafe:
            try:
                require_level()
            except SandboxUnavailable as error:
                raise UnfitNode(str(error)) from None
        self._sweep()
        self._out.mkdir(parents=True, exist_ok=True)
        configuration, renamed = self._luggage.unpack(self._folder / "files")
        self._renamed |= renamed
        self._workshop = workshop = ItemRunner(configuration, self._out, 1)
        workshop.environment.keep_caches_here()
        case = case_of(shipped_program(CLEAN[0]), devices=configuration.compiling.devices)
        verdicts = list(verdicts_of(workshop.pool, case))
        odd = [verdict.message for verdict in verdicts if verdict.kind is not VerdictKind.AGREE]
        if configuration.compiling.preload is None and (odd or not verdicts):  # a preload may change what is computed
            raise UnfitNode(f"{CLEAN[0]}, compiled, does not agree with eager: {' '.join(odd)}")
        return worker_name()

    def perform(self, item: Item, text: str, index: int) -> RemoteResult:
        """Raises CutOff once it is to retire, NoRoom where the node's disk is full, and RunnerFailed."""
        assert self._workshop is not None
        if not enough_room(self._out):
            raise DiskFullError(f"{worker_name()}: less room than is needed below {self._out}")
        events: list[Event] = []
        findings, flaky = self._out / "findings", self._out / "flaky"
        try:
            performed = self._workshop.perform(item, text, index, events.append, self._stop)
            found = [*(Path(event.folder) for event in performed.findings), *flaky.glob("*")]
            parcel = pack(self._out, found, self._renamed)
        finally:  # what was found is kept by the campaign's own machine alone
            for folder in (findings, flaky):
                shutil.rmtree(folder, ignore_errors=True)
        told = tuple(self._below_out(event) for event in performed.findings)
        return RemoteResult(dataclasses.replace(performed, findings=told), tuple(map(self._told, events)), parcel)

    def retire(self) -> None:
        """End what runs, and leave nothing on the node."""
        self._stop.set()
        if self._workshop is not None:
            self._workshop.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _sweep(self) -> None:
        """Remove what killed workers of this node have left."""
        for folder in self._home.glob(f"{_PREFIX}*"):
            parts = folder.name.removeprefix(_PREFIX).split(",")
            if len(parts) == 3 and is_gone("/".join(parts)):
                shutil.rmtree(folder, ignore_errors=True)

    def _below_out(self, event: FindingReported) -> FindingReported:
        return dataclasses.replace(event, folder=str(Path(event.folder).relative_to(self._out)))

    def _told(self, event: Event) -> Event:
        """The verdict on a flaky cell names a folder."""
        if not isinstance(event, CellJudged) or str(self._out) not in event.verdict.message:
            return event
        message = event.verdict.message.replace(str(self._out), self._renamed[str(self._out)])
        return dataclasses.replace(event, verdict=dataclasses.replace(event.verdict, message=message))
