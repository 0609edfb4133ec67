"""Worker of a Ray cluster: an item runner with one job, on a node that shares no disk with the campaign's machine.

The code under test does not run in the actor's process but in children of its fork server, which end with it. This
module does not import Ray.
"""

from __future__ import annotations

import dataclasses
import shutil
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path

from eqfuzz.campaign.engine.disk_space import DiskFullError, has_space
from eqfuzz.campaign.executors.file_transfer import FileBundle, ShippedConfiguration, pack
from eqfuzz.campaign.executors.item_runner import ItemResult, ItemRunner, WorkOrder
from eqfuzz.campaign.worker_id import has_ended, worker_id
from eqfuzz.events.event import Event
from eqfuzz.events.run import CellJudged, FindingReported
from eqfuzz.mutate.seed_runner import selected_rules
from eqfuzz.mutate.self_check import CLEAN, check_job, shipped_program, verdicts_of
from eqfuzz.oracle.compare.verdict import VerdictKind
from eqfuzz.run.sandbox.launcher import SandboxUnavailable, require_level
from eqfuzz.triage.findings.versions import versions

_PREFIX = "eqfuzz-worker,"


class UnfitNode(Exception):
    """This node cannot run the campaign's items; ``str()`` is the reason, in one line."""


@dataclasses.dataclass(frozen=True)
class RemoteResult:
    """Result of an item with its events."""

    result: ItemResult
    events: tuple[Event, ...]
    files: FileBundle
    """Folders of its findings and flaky verdicts, by path below the campaign's folder."""


class RayWorker:
    """Runs the items of a campaign, one at a time; ``shut_down`` may be called meanwhile.

    Files are written to a new folder below ``home`` (empty: the node's temporary folder). ``out`` is the campaign's
    folder on its own machine, which findings name in place of this node's folder. ``required`` are the versions of the
    campaign's machine.
    """

    def __init__(self, shipped: ShippedConfiguration, home: str, out: str, required: Mapping[str, str]) -> None:
        self._shipped = shipped
        self._home = Path(home or tempfile.gettempdir())
        self._folder = self._home / (_PREFIX + worker_id().replace("/", ","))
        self._out = self._folder / "out"
        self._renamed = {str(self._out): out}
        self._required = required
        self._stop = threading.Event()
        self._runner: ItemRunner | None = None

    def start(self) -> str:
        """Start the processes and check that they compile a program correctly; returns the worker's identifier.

        Raises UnfitNode and RunnerFailed.
        """
        ours = versions()
        named = [*self._required, *(name for name in ours if name not in self._required)]
        both = [(name, ours.get(name, "none"), self._required.get(name, "none")) for name in named]
        other = [f"{name} {here}, not {theirs}" for name, here, theirs in both if here != theirs]
        if other:
            raise UnfitNode(f"it has {', '.join(other)}")
        configuration = self._shipped.configuration
        if configuration.has_untrusted and not configuration.sources.unsafe:
            try:
                require_level()
            except SandboxUnavailable as error:
                raise UnfitNode(str(error)) from None
        self._remove_leftovers()
        self._out.mkdir(parents=True, exist_ok=True)
        configuration, renamed = self._shipped.unpack(self._folder / "files")
        self._renamed |= renamed
        rules = [rule.name for rule in selected_rules(configuration.rewriting)]
        self._runner = runner = ItemRunner(configuration, rules, self._out, 1)
        runner.seeds.environment.keep_caches_here()
        job = dataclasses.replace(check_job(shipped_program(CLEAN[0])), devices=configuration.compiling.devices)
        verdicts = list(verdicts_of(runner.seeds.pool, job))
        odd = [verdict.message for verdict in verdicts if verdict.kind is not VerdictKind.AGREE]
        if configuration.compiling.preload is None and (odd or not verdicts):  # a preload may change results
            raise UnfitNode(f"{CLEAN[0]}, compiled, does not agree with eager: {' '.join(odd)}")
        return worker_id()

    def perform(self, order: WorkOrder) -> RemoteResult:
        """Run an item. Raises ItemInterrupted on shutdown, DiskFullError for the node's disk, and RunnerFailed."""
        assert self._runner is not None
        if not has_space(self._out):
            raise DiskFullError(f"{worker_id()}: too little disk space below {self._out}")
        events: list[Event] = []
        findings, flaky = self._out / "findings", self._out / "flaky"
        try:
            result = self._runner.run_item(order, events.append, self._stop)
            folders = [*(Path(event.folder) for event in result.findings), *flaky.glob("*")]
            files = pack(self._out, folders, self._renamed)
        finally:  # only the campaign's machine keeps findings
            for folder in (findings, flaky):
                shutil.rmtree(folder, ignore_errors=True)
        relative = tuple(self._relative(event) for event in result.findings)
        renamed = tuple(self._with_campaign_folder(event) for event in events)
        return RemoteResult(dataclasses.replace(result, findings=relative), renamed, files)

    def shut_down(self) -> None:
        """Interrupt the item and remove all files from the node."""
        self._stop.set()
        if self._runner is not None:
            self._runner.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _remove_leftovers(self) -> None:
        """Remove the folders of killed workers of this node."""
        for folder in self._home.glob(f"{_PREFIX}*"):
            parts = folder.name.removeprefix(_PREFIX).split(",")
            if len(parts) == 3 and has_ended("/".join(parts)):
                shutil.rmtree(folder, ignore_errors=True)

    def _relative(self, event: FindingReported) -> FindingReported:
        return dataclasses.replace(event, folder=str(Path(event.folder).relative_to(self._out)))

    def _with_campaign_folder(self, event: Event) -> Event:
        """The event with the campaign's folder in place of this node's: flaky verdicts name a folder."""
        if not isinstance(event, CellJudged) or str(self._out) not in event.verdict.message:
            return event
        message = event.verdict.message.replace(str(self._out), self._renamed[str(self._out)])
        return dataclasses.replace(event, verdict=dataclasses.replace(event.verdict, message=message))
