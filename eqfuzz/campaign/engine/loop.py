"""The loop of ``eqfuzz campaign``: epochs planned, their items handed to workers, what comes back stored and learnt."""

from __future__ import annotations

import contextlib
import dataclasses
import shutil
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eqfuzz.campaign.configuration import Configuration, completed, differences
from eqfuzz.campaign.engine.budget import BudgetMonitor
from eqfuzz.campaign.engine.disk_space import DISK_FULL, ROOM_SECONDS, DiskFullError, enough_room, tells_of_no_room
from eqfuzz.campaign.engine.epochs import EpochScheduler
from eqfuzz.campaign.engine.interrupts import counting_signals
from eqfuzz.campaign.engine.leases import Leases
from eqfuzz.campaign.engine.plan import NothingToDo
from eqfuzz.campaign.executors.item_runner import ItemInterrupted, ItemResult
from eqfuzz.campaign.executors.local import Executor, ExecutorLost
from eqfuzz.campaign.feedback.novelty import empty_outcome
from eqfuzz.campaign.metrics import Statistics
from eqfuzz.campaign.sources.files import CampaignEnding, SeedSource
from eqfuzz.campaign.store.database import told_of_file
from eqfuzz.campaign.store.records import Claim, StoredFinding
from eqfuzz.campaign.store.retries import StoreRetrier
from eqfuzz.campaign.store.store import Store, StoreError
from eqfuzz.errors import UsageError
from eqfuzz.events.campaign import (
    CampaignBlocked,
    CampaignStarted,
    CampaignStopping,
    CampaignSummary,
    ItemEnded,
    ItemStarted,
    WorkerLost,
)
from eqfuzz.events.event import Event, Handler
from eqfuzz.events.run import FindingReported
from eqfuzz.mutate.bucketing import Bucketer
from eqfuzz.mutate.invalid_seeds import InvalidSeeds
from eqfuzz.run.protocol import RunnerFailed
from eqfuzz.triage.findings.versions import versions

if TYPE_CHECKING:
    from eqfuzz.campaign.sources.llm import LlmSeeds

ATTEMPTS = 3
"""Workers that an item may cost before it is given up."""

IDLE_SECONDS = 0.2
LOOKING_SECONDS = 0.2
"""Wall seconds after which a signal is heeded."""

STOPPING_SECONDS = 30.0


@dataclasses.dataclass(frozen=True)
class CampaignInvocation:
    """One call of a campaign: what belongs to it, not to the campaign. ``out`` is the campaign's own folder."""

    name: str
    out: Path
    store: Store
    executor: Executor
    executor_name: str
    sources: Sequence[SeedSource]
    families: Sequence[str]
    configs: Sequence[str]
    rules: int
    writer: LlmSeeds | None = None
    """That of ``sources`` which asks a language model."""


class CampaignLoop:
    """Runs ``configuration`` as the campaign ``call.name`` until a budget is spent or it is interrupted."""

    def __init__(
        self,
        configuration: Configuration,
        call: CampaignInvocation,
        sorting: Bucketer,
        statistics: Statistics,
        handler: Handler,
    ) -> None:
        self.configuration = configuration
        self.call = call
        self.statistics = statistics
        self._sorting = sorting
        self._handler = handler
        self._emitting = threading.RLock()
        if call.writer is not None:
            call.writer.tell = self._emit
        self._draining = threading.Event()
        self._stop = threading.Event()
        self._over = threading.Event()
        self._why = ""
        self._interrupts = 0
        self._broken: BrokenPipeError | None = None
        self._errors: list[str] = []
        self._new_here: list[str] = []
        self._invalid = InvalidSeeds()
        self._retry = StoreRetrier(self._report_unavailable, self._stop)
        self._claims = Leases(call.store, self._retry)
        self._budgeting = BudgetMonitor(configuration.budget, statistics, call.writer)
        self._learning = EpochScheduler(call.name, configuration, call.store, statistics, self._retry, self._emit)

    def run(self) -> CampaignSummary:
        """The last event, which has been handed to the handler as all before. Raises UsageError and RunnerFailed."""
        self._begin()
        threads = [
            threading.Thread(target=self._guarded, args=(self._serve, slot), name=f"item-{slot}", daemon=True)
            for slot in range(self.call.executor.slots)
        ]
        beating = threading.Thread(
            target=self._guarded, args=(self._claims.keep_alive, self._over), name="beat", daemon=True
        )
        try:
            with counting_signals(self._count_interrupt):
                for thread in [*threads, beating]:
                    thread.start()
                self._heed_signals(threads)
        finally:
            self._over.set()
            self._stop.set()
            self.call.executor.close()
            if not any(thread.is_alive() for thread in threads):
                with contextlib.suppress(StoreError):  # what stays claimed is taken back by whoever goes on
                    self._claims.hand_back()
        if self._broken is not None:
            raise self._broken
        return self._summarise()

    def _heed_signals(self, threads: Sequence[threading.Thread]) -> None:
        """Returns when all have ended, or when everything is to stop and a silent database holds one of them."""
        heeded, patience = 0, STOPPING_SECONDS
        while any(thread.is_alive() for thread in threads) and patience > 0:
            for thread in threads:
                thread.join(LOOKING_SECONDS / len(threads))
            if self._budgeting.is_late and not self._draining.is_set():
                self._drain("time")  # workers may all wait for a model
            while heeded < self._interrupts:
                heeded += 1
                self._interrupt()
            if self._stop.is_set():
                patience -= LOOKING_SECONDS

    def _begin(self) -> None:
        call, configuration = self.call, self.configuration
        settings = configuration.lasting()
        found = self._retry(call.store.begin, call.name, configuration.seed, settings, versions(), time.time())
        other = differences(completed(found.settings), settings)
        if other:
            raise UsageError(
                f"campaign {call.name!r} was begun with other settings: {', '.join(other)}; "
                "leave them as they were, or choose another --name"
            )
        self._claims.begin(found.id)
        self._learning.begin(found.id)
        self._emit(
            CampaignStarted(
                campaign=call.name,
                seed=configuration.seed,
                resumed=found.planned > 0,
                sources=[source.name for source in call.sources],
                rules=call.rules,
                configs=list(call.configs),
                devices=list(configuration.compiling.devices),
                jobs=call.executor.slots,
                executor=call.executor_name,
                feedback=configuration.feedback.enabled,
                out=str(call.out),
                store=call.store.place,
                versions=versions(),
            )
        )

    # Workers

    def _guarded(self, work: Callable[..., None], *arguments: Any) -> None:
        """A thread that breaks down ends the campaign, with its error told."""
        try:
            work(*arguments)
        except NothingToDo:
            self._drain(self._budgeting.why_no_seed())
        except CampaignEnding:
            pass  # others have ended it
        except BrokenPipeError as error:  # nobody reads the events any more
            self._broken = error
            self._draining.set()
            self._stop.set()
            if self.call.writer is not None:
                self.call.writer.cut_off()
        except BaseException as error:
            with self._emitting:
                self._errors.append(f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}")
            self._drain("error")
            if not isinstance(error, StoreError | RunnerFailed):
                raise

    def _serve(self, slot: int) -> None:
        """One slot's work until the campaign ends."""
        call = self.call
        while not self._draining.is_set():
            why = self._budgeting.spent()
            if why:
                self._drain(why)
                return
            try:
                self._learning.advance(
                    call.sources, call.families, call.configs, self._budgeting.may_plan, self._draining
                )
            except NothingToDo:
                if not self._budgeting.is_answer_awaited():
                    raise
            if not call.executor.ready(slot, self._emit):
                self._draining.wait(IDLE_SECONDS)
                continue
            claim = self._claims.take()
            if claim is None:
                self._draining.wait(IDLE_SECONDS)
                continue
            self._do(slot, claim)

    def _do(self, slot: int, claim: Claim) -> None:
        item = claim.item
        self._emit(ItemStarted(claim.case, item.name, dict(item.arms), claim.attempt))
        if claim.attempt > ATTEMPTS:
            told = empty_outcome("lost", f"cost its worker {ATTEMPTS} times")
            self._store(claim, ItemResult(told, ()))
            return
        text = self._retry(self.call.store.program, item.program)
        without_room = False
        while self._has_room(failed=without_room):
            try:
                performed = self.call.executor.perform(slot, item, text, claim.case, self._emit, self._stop)
                if enough_room(self.call.out) and not tells_of_no_room(performed):
                    self._store(claim, performed)
                    return
                _discard(performed)
            except ItemInterrupted:
                return
            except DiskFullError:
                pass
            except OSError as error:
                if not DiskFullError.is_meant_by(error):
                    raise
            except ExecutorLost as lost:
                self._emit(WorkerLost(f"{self._claims.worker}/{slot}", str(lost)))
                self._claims.give_up(claim)
                return
            without_room = True

    def _store(self, claim: Claim, performed: ItemResult) -> None:
        """Sort the findings, then store everything in one transaction."""
        outcome = self._learning.new_of(performed.outcome)
        store = self.call.store
        told = [self._retry(self._sorted, event) for event in performed.findings]
        kept = [_kept(event, claim.item.epoch) for event in told]
        outcome["buckets"] = sorted({f.bucket for f in kept if not f.issue})
        outcome["findings"] = [finding.id for finding in kept]
        texts = dict(outcome["texts"])
        outcome["texts"] = {variant: self._retry(store.put_program, text) for variant, text in texts.items()}
        is_stored = self._claims.finish(claim, outcome, kept)
        if not is_stored:
            return  # somebody else has it by now
        self.statistics.store(outcome)
        for event in told:
            self._emit(event)
        if outcome["state"] == "error":
            with self._emitting:
                self._errors.append(outcome["reason"])
        ended = outcome["state"], outcome["reason"], outcome["cells"], outcome["cpu_seconds"]
        self._emit(ItemEnded(claim.case, claim.item.name, *ended))

    def _sorted(self, event: FindingReported) -> FindingReported:
        """Raises StoreError where the buckets cannot be written."""
        try:
            place = self._sorting.sort(event.finding, Path(event.folder))
        except OSError as error:
            raise told_of_file(error, Path(event.folder)) from None
        return dataclasses.replace(event, bucket=place.bucket, kept=place.kept, issue=place.issue)

    # Ending

    def _drain(self, why: str) -> None:
        """Begin nothing new."""
        with self._emitting:
            if self._draining.is_set():
                return
            self._why = why
            self._draining.set()
            if self.call.writer is not None:
                self.call.writer.end()
            self._emit(CampaignStopping(why, len(self.statistics.figures()["running"])))

    def _count_interrupt(self) -> None:
        self._interrupts += 1

    def _interrupt(self) -> None:
        """Ctrl-C: once, what is in flight is finished; twice, it is cut off."""
        if not self._draining.is_set() or self._why != "interrupt":
            already = self._draining.is_set()
            self._drain("interrupt")
            self._why = "interrupt"
            if not already:
                return
        self._stop.set()
        if self.call.writer is not None:
            self.call.writer.cut_off()
        self.call.executor.close()

    def _summarise(self) -> CampaignSummary:
        new, known = self.statistics.findings()
        figures = self.statistics.figures()
        if self.configuration.compiling.preload is None and not self.configuration.sources.untrusted:
            self._errors += self._invalid.broken_installation(versions()["torch"])
        summary = CampaignSummary(
            campaign=self.call.name,
            seed=self.configuration.seed,
            why=self._why,
            interrupted=self._why == "interrupt",
            seconds=round(self.statistics.seconds, 3),
            total_seconds=round(self.statistics.total_seconds, 3),
            errors=sorted(set(self._errors)),
            figures=figures,
            yields=self._learning.yields(),
            findings=new,
            buckets=figures["buckets"],
            known=known,
            new_here=sorted(set(self._new_here)),
            invalid_reasons=self._invalid.reasons(),
        )
        self._emit(summary)
        return summary

    # What may pass

    def _has_room(self, *, failed: bool) -> bool:
        """Wait until there is room on the disk, for a while at least where an item ``failed`` for want of it.

        False where everything ends meanwhile.
        """
        waited = False
        while (failed and not waited) or not enough_room(self.call.out):
            if not waited:
                self._emit(CampaignBlocked(DISK_FULL, f"less room than is needed below {self.call.out}", ROOM_SECONDS))
            waited = True
            if self._draining.wait(ROOM_SECONDS):
                return False
        if waited:
            self._emit(CampaignBlocked("", "", 0.0))
        return True

    def _report_unavailable(self, error: StoreError | None, seconds: float) -> None:
        cause = getattr(error, "cause", "") if error is not None else ""
        self._emit(CampaignBlocked(cause, str(error or ""), seconds))

    def _emit(self, event: Event) -> None:
        with self._emitting:
            self.statistics.count(event)
            match event:
                case FindingReported(issue=""):
                    self._new_here.append(event.bucket or event.finding.id)
                case ItemEnded(index=index, seed=seed, state=state, reason=reason):
                    self._invalid.add_tried(seed)
                    if state == "invalid":
                        self._invalid.add(index, seed, reason)
                case _:
                    pass
            self._handler(event)


def _kept(event: FindingReported, epoch: int) -> StoredFinding:
    finding = event.finding
    return StoredFinding(
        id=finding.id,
        kind=str(finding.verdict.kind),
        fingerprint=finding.fingerprint,
        bucket=event.bucket or finding.id,
        issue=event.issue,
        seed=finding.original.name,
        epoch=epoch,
        report=event.to_json(),
    )


def _discard(performed: ItemResult) -> None:
    """Forget findings that a full disk has made."""
    for event in performed.findings:
        if not event.known:
            shutil.rmtree(event.folder, ignore_errors=True)
