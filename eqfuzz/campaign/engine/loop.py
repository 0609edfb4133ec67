"""Loop of ``eqfuzz campaign``: plans epochs, hands their items to workers, stores the results and learns from them."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import shutil
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eqfuzz.campaign.configuration import Configuration, completed, differences
from eqfuzz.campaign.engine.budget import BudgetMonitor
from eqfuzz.campaign.engine.disk_space import DISK_FULL, RECHECK_SECONDS, DiskFullError, has_space, mentions_full_disk
from eqfuzz.campaign.engine.dispatch import EventDispatcher
from eqfuzz.campaign.engine.epochs import EpochScheduler
from eqfuzz.campaign.engine.interrupts import counting_signals
from eqfuzz.campaign.engine.leases import Leases
from eqfuzz.campaign.engine.plan import NothingToDo, SearchSpace
from eqfuzz.campaign.executors.item_runner import ItemInterrupted, ItemResult, WorkOrder
from eqfuzz.campaign.executors.local import Executor, ExecutorLost
from eqfuzz.campaign.sources.files import CampaignEnding
from eqfuzz.campaign.store.errors import StoreError, file_error
from eqfuzz.campaign.store.outcome import Outcome
from eqfuzz.campaign.store.records import Campaign, Lease, StoredFinding
from eqfuzz.campaign.store.retries import StoreRetrier
from eqfuzz.campaign.store.store import Store
from eqfuzz.errors import UsageError, error_line
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
from eqfuzz.run.protocol import RunnerFailed
from eqfuzz.triage.findings.versions import versions

if TYPE_CHECKING:
    from eqfuzz.campaign.sources.llm import LlmSeeds

ATTEMPTS = 3
"""Number of workers that an item may cost before it is marked as lost."""

IDLE_SECONDS = 0.2
SIGNAL_SECONDS = 0.2
"""Wall seconds between two looks for signals."""

FINISHING_SECONDS = 120.0
"""Wall seconds that running items have to end after the first Ctrl-C: one that hangs may need many minutes."""

STOPPING_SECONDS = 30.0
"""Wall seconds that running threads have to end after a stop."""


@dataclasses.dataclass(frozen=True)
class CampaignInvocation:
    """What one call of a campaign works with."""

    name: str
    """Name of the campaign."""
    out: Path
    """Folder of the campaign."""
    store: Store
    """Where items and results are kept."""
    executor: Executor
    """Runs the items."""
    executor_name: str
    """``local`` or ``ray``."""
    space: SearchSpace
    """What items are drawn from."""
    rules: int
    """Number of selected rules."""
    check_oracle: Callable[[Handler], str]
    """The self-check: emits its steps and returns in words what fails, empty if nothing does."""
    llm_source: LlmSeeds | None = None
    """The source among those of ``space`` that asks a language model."""


class CampaignLoop:
    """Runs ``configuration`` as the campaign ``invocation.name`` until a budget is spent or it is interrupted.

    Creating it opens the campaign in the store. Raises UsageError for other settings than those of its earlier calls,
    and StoreError.
    """

    def __init__(
        self, configuration: Configuration, invocation: CampaignInvocation, bucketer: Bucketer, events: EventDispatcher
    ) -> None:
        self.configuration = configuration
        self.metrics = events.metrics
        self._invocation = invocation
        self._executor = invocation.executor
        self._llm_source = invocation.llm_source
        self._bucketer = bucketer
        self._events = events
        self._emit = events.emit
        self._drain_lock = threading.Lock()
        self._draining = threading.Event()
        """Set once nothing new is started."""
        self._stop = threading.Event()
        """Set once running items are interrupted."""
        self._over = threading.Event()
        self._why = ""
        self._interrupts = 0
        self._broken_pipe: BrokenPipeError | None = None
        self._errors: list[str] = []
        self._retry = StoreRetrier(self._report_unavailable, self._stop)
        self._budget = BudgetMonitor(configuration.budget, self.metrics, invocation.llm_source)
        campaign = self._open_campaign()
        self._leases = Leases(invocation.store, campaign.id, self._retry)
        self._epochs = EpochScheduler(
            campaign,
            configuration,
            invocation.space,
            invocation.store,
            self.metrics,
            self._retry,
            self._emit,
        )
        self._emit_start(campaign)

    def _open_campaign(self) -> Campaign:
        invocation, configuration = self._invocation, self.configuration
        settings = configuration.lasting()
        campaign = self._retry(
            invocation.store.open_campaign, invocation.name, configuration.seed, settings, versions(), time.time()
        )
        other = differences(completed(campaign.settings), settings)
        if other:
            raise UsageError(
                f"campaign {invocation.name!r} was started with other settings: {', '.join(other)}; "
                "leave them as they were, or choose another --name"
            )
        return campaign

    def _emit_start(self, campaign: Campaign) -> None:
        invocation, configuration = self._invocation, self.configuration
        self._emit(
            CampaignStarted(
                campaign=invocation.name,
                seed=configuration.seed,
                resumed=campaign.planned > 0,
                sources=[source.name for source in invocation.space.sources],
                rules=invocation.rules,
                configs=list(invocation.space.configs),
                devices=list(configuration.compiling.devices),
                jobs=self._executor.slots,
                executor=invocation.executor_name,
                feedback=configuration.feedback.enabled,
                out=str(invocation.out),
                store=invocation.store.place,
                versions=versions(),
            )
        )

    def run(self) -> CampaignSummary:
        """The last event, which was handed to the handler like all others. Raises RunnerFailed and BrokenPipeError."""
        threads = [
            threading.Thread(target=self._guarded, args=(self._serve, slot), name=f"item-{slot}", daemon=True)
            for slot in range(self._executor.slots)
        ]
        threads.append(threading.Thread(target=self._guarded, args=(self._check_oracle,), name="oracle", daemon=True))
        heartbeats = threading.Thread(
            target=self._guarded, args=(self._leases.send_heartbeats, self._over), name="heartbeat", daemon=True
        )
        try:
            with counting_signals(self._count_interrupt):
                for thread in [*threads, heartbeats]:
                    thread.start()
                self._await_end(threads)
        finally:
            self._over.set()
            self._stop.set()
            self._executor.close()
            if not any(thread.is_alive() for thread in threads):
                with contextlib.suppress(StoreError):  # leases that stay are released by another worker
                    self._leases.release_all()
        if self._broken_pipe is not None:
            raise self._broken_pipe
        return self._summarise()

    def _await_end(self, threads: Sequence[threading.Thread]) -> None:
        """Return once all threads have ended, or some time after a stop: an unreachable database may hold one."""
        handled, halt_at, left = 0, math.inf, STOPPING_SECONDS
        while any(thread.is_alive() for thread in threads) and left > 0:
            for thread in threads:
                thread.join(SIGNAL_SECONDS / len(threads))
            if self._budget.is_late and not self._stop.is_set():
                self._drain("time")
                self._halt()
            while handled < self._interrupts:
                handled += 1
                self._interrupt()
                halt_at = min(halt_at, time.monotonic() + FINISHING_SECONDS)
            if time.monotonic() >= halt_at and not self._stop.is_set():
                self._halt()
            if self._stop.is_set():
                left -= SIGNAL_SECONDS

    def _check_oracle(self) -> None:
        """End the campaign if the self-check fails."""

        def emit(event: Event) -> None:
            if not self._stop.is_set():  # else its processes were ended, so that it cannot pass
                self._emit(event)

        try:
            problem = self._invocation.check_oracle(emit)
        except RunnerFailed:
            if self._stop.is_set():
                return
            raise
        if problem and not self._stop.is_set():
            self._errors.append(problem)
            self._drain("error")
            self._halt()

    # Workers

    def _guarded(self, work: Callable[..., None], *arguments: Any) -> None:
        """Call ``work``; an error in it ends the campaign and is reported in the summary."""
        try:
            work(*arguments)
        except NothingToDo:
            self._drain(self._budget.why_no_seed())
        except CampaignEnding:
            pass  # another thread has ended the campaign
        except BrokenPipeError as error:  # the reader of the events is gone
            self._broken_pipe = error
            self._draining.set()
            self._halt()
        except BaseException as error:
            self._errors.append(error_line(error))
            self._drain("error")
            if not isinstance(error, StoreError | RunnerFailed):
                raise

    def _serve(self, slot: int) -> None:
        """Run items in one slot until the campaign ends."""
        while not self._draining.is_set():
            why = self._budget.spent()
            if why:
                self._drain(why)
                return
            try:
                self._epochs.advance(self._budget.may_plan, self._draining)
            except NothingToDo:
                if not self._budget.is_answer_awaited():
                    raise
            lease = self._leases.acquire() if self._executor.ready(slot, self._emit) else None
            if lease is None:
                self._draining.wait(IDLE_SECONDS)
            else:
                self._run_item(slot, lease)

    def _run_item(self, slot: int, lease: Lease) -> None:
        item = lease.item
        self._emit(ItemStarted(index=lease.case, seed=item.name, arms=dict(item.arms), attempt=lease.attempt))
        if lease.attempt > ATTEMPTS:
            self._store(lease, ItemResult(Outcome(state="lost", reason=f"cost its worker {ATTEMPTS} times")))
            return
        text = self._retry(self._invocation.store.program, item.program)
        order = WorkOrder(item, text, lease.case)
        disk_was_full = False
        while self._await_space(disk_was_full=disk_was_full):
            try:
                result = self._executor.perform(slot, order, self._emit, self._stop)
                if has_space(self._invocation.out) and not mentions_full_disk(result):
                    self._store(lease, result)
                    return
                _remove_findings(result)
            except ItemInterrupted:
                return
            except DiskFullError:
                pass
            except OSError as error:
                if not DiskFullError.is_cause_of(error):
                    raise
            except ExecutorLost as lost:
                self._emit(WorkerLost(worker=f"{self._leases.worker}/{slot}", detail=str(lost)))
                self._leases.fail(lease)
                return
            disk_was_full = True

    def _store(self, lease: Lease, result: ItemResult) -> None:
        """Put the findings into buckets, then store everything in one transaction."""
        store = self._invocation.store
        result = self._epochs.without_known(result)
        events = [self._retry(self._bucketed, event) for event in result.findings]
        findings = [_stored(event, lease.item.epoch) for event in events]
        outcome = result.outcome.model_copy(
            update={
                "buckets": tuple(sorted({finding.bucket for finding in findings if not finding.issue})),
                "findings": tuple(finding.id for finding in findings),
                "digests": {variant: self._retry(store.put_program, text) for variant, text in result.texts.items()},
            }
        )
        if not self._leases.complete(lease, outcome, findings):
            return  # the lease has expired, and another worker has the item
        self._epochs.count_result(lease.item, outcome)
        for event in events:
            self._emit(event)
        if outcome.state == "error":
            self._errors.append(outcome.reason)
        self._emit(
            ItemEnded(
                index=lease.case,
                seed=lease.item.name,
                state=outcome.state,
                reason=outcome.reason,
                cells=outcome.cells,
                cpu_seconds=outcome.cpu_seconds,
            )
        )

    def _bucketed(self, event: FindingReported) -> FindingReported:
        """Raises StoreError where the buckets cannot be written."""
        try:
            assignment = self._bucketer.assign(event.finding, Path(event.folder))
        except OSError as error:
            raise file_error(error, Path(event.folder)) from None
        return dataclasses.replace(event, bucket=assignment.bucket, kept=assignment.kept, issue=assignment.issue)

    # Ending

    def _drain(self, why: str) -> None:
        """Start nothing new, for the reason ``why``; only the first reason counts."""
        with self._drain_lock:
            if self._draining.is_set():
                return
            self._why = why
            self._draining.set()
        if self._llm_source is not None:
            self._llm_source.drain()
        self._emit(CampaignStopping(why=why, running=len(self.metrics.figures()["running"])))

    def _count_interrupt(self) -> None:
        self._interrupts += 1

    def _interrupt(self) -> None:
        """Ctrl-C: the first one lets running items finish, for a while; the second one interrupts them."""
        if not self._draining.is_set() or self._why != "interrupt":
            was_draining = self._draining.is_set()
            self._drain("interrupt")
            self._why = "interrupt"
            if not was_draining:
                return
        self._halt()

    def _halt(self) -> None:
        """Interrupt running items; their leases are released at the end."""
        self._stop.set()
        if self._llm_source is not None:
            self._llm_source.abort()
        self._executor.close()

    def _summarise(self) -> CampaignSummary:
        new, of_known_issues = self.metrics.findings()
        figures = self.metrics.figures()
        invalid_seeds = self._events.invalid_seeds
        if self.configuration.compiling.preload is None and not self.configuration.sources.untrusted:
            self._errors += invalid_seeds.broken_installation(versions()["torch"])
        summary = CampaignSummary(
            campaign=self._invocation.name,
            seed=self.configuration.seed,
            why=self._why,
            interrupted=self._why == "interrupt",
            seconds=round(self.metrics.seconds, 3),
            total_seconds=round(self.metrics.total_seconds, 3),
            errors=sorted(set(self._errors)),
            figures=figures,
            yields=self._epochs.rewards_per_cost(),
            findings=new,
            buckets=figures["buckets"],
            known=of_known_issues,
            new_here=sorted(self._events.new_buckets),
            invalid_reasons=invalid_seeds.reasons(),
        )
        self._emit(summary)
        return summary

    # Waiting

    def _await_space(self, *, disk_was_full: bool) -> bool:
        """Wait until the disk has space, and at least once after an item failed because it was full.

        False where the campaign ends meanwhile.
        """
        waited = False
        while (disk_was_full and not waited) or not has_space(self._invocation.out):
            if not waited:
                detail = f"too little disk space below {self._invocation.out}"
                self._emit(CampaignBlocked(cause=DISK_FULL, detail=detail, seconds=RECHECK_SECONDS))
            waited = True
            if self._draining.wait(RECHECK_SECONDS):
                return False
        if waited:
            self._emit(CampaignBlocked.over())
        return True

    def _report_unavailable(self, error: StoreError | None, seconds: float) -> None:
        if error is None:
            self._emit(CampaignBlocked.over())
        else:
            self._emit(CampaignBlocked(cause=getattr(error, "cause", ""), detail=str(error), seconds=seconds))


def _stored(event: FindingReported, epoch: int) -> StoredFinding:
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


def _remove_findings(result: ItemResult) -> None:
    """Remove findings that a full disk has caused."""
    for event in result.findings:
        if not event.known:
            shutil.rmtree(event.folder, ignore_errors=True)
