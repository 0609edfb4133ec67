"""Epochs of a campaign, planned and committed in order, for all workers of one process."""

from __future__ import annotations

import threading
from collections.abc import Callable

from eqfuzz.campaign.configuration import Configuration
from eqfuzz.campaign.engine.knowledge import CampaignState
from eqfuzz.campaign.engine.plan import NothingToDo, SearchSpace
from eqfuzz.campaign.executors.item_runner import ItemResult
from eqfuzz.campaign.metrics import CampaignMetrics
from eqfuzz.campaign.store.outcome import Outcome
from eqfuzz.campaign.store.records import Campaign, Item, Json, StoredFinding
from eqfuzz.campaign.store.retries import StoreRetrier
from eqfuzz.campaign.store.store import Store
from eqfuzz.events.event import Handler


class EpochScheduler:
    """Plans and commits the epochs of ``campaign``; its state is loaded from the store.

    ``metrics`` also count the items that other processes complete.
    """

    def __init__(
        self,
        campaign: Campaign,
        configuration: Configuration,
        space: SearchSpace,
        store: Store,
        metrics: CampaignMetrics,
        retry: StoreRetrier,
        emit: Handler,
    ) -> None:
        self._campaign = campaign
        self._configuration = configuration
        self._space = space
        self._store = store
        self._metrics = metrics
        self._retry = retry
        self._emit = emit
        self._advancing = threading.Lock()
        """Held while epochs are planned and committed: seeds are drawn, and a model may take minutes."""
        self._learning = threading.Lock()
        """Held while the state changes."""
        self._pending: dict[tuple[int, int], tuple[Item, Outcome]] = {}
        """Completed items of epochs that are not committed, by epoch and number."""
        self._state = self._loaded_state()
        metrics.load_earlier_calls(*self._reloaded_figures())
        self._record_reached()

    def _loaded_state(self) -> CampaignState:
        return self._retry(CampaignState.load, self._store, self._campaign.name)

    def _reloaded_figures(self) -> tuple[list[Json], list[Outcome], list[StoredFinding]]:
        """The curve, the outcomes of items of epochs that are not committed yet, and the findings, from the store."""
        store, campaign = self._store, self._campaign.id
        results = self._retry(store.results_after, campaign, self._state.committed)
        self._pending = {(item.epoch, item.number): (item, outcome) for item, outcome in results}
        findings = self._retry(store.findings, campaign)
        return self._retry(store.curve, campaign), [outcome for _, outcome in results], findings

    def count_result(self, item: Item, outcome: Outcome) -> None:
        """Count a completed item in the metrics, with what it reached, before its epoch is committed."""
        self._metrics.count_outcome(outcome)
        with self._learning:
            if item.epoch > self._state.committed:
                self._pending[item.epoch, item.number] = item, outcome
            self._record_reached()

    def _record_reached(self) -> None:
        results = [self._pending[key] for key in sorted(self._pending)]
        reached, corpus = self._state.with_pending(results, self._configuration.feedback.cost)
        self._metrics.record_reached(len(reached.features), reached.line_count(), len(corpus))

    def without_known(self, result: ItemResult) -> ItemResult:
        """``result`` without features and lines that were reached before."""
        with self._learning:
            reached = self._state.reached
            return result.without_known(reached.features, reached.lines)

    def rewards_per_cost(self) -> dict[str, dict[str, float]]:
        """See ``CampaignState.rewards_per_cost``."""
        return self._state.rewards_per_cost()

    def advance(self, may_plan: Callable[[], bool], over: threading.Event) -> None:
        """Plan and commit all epochs that can be, until ``over``; returns at once if another thread does so.

        Raises CampaignEnding, and NothingToDo once all planned epochs are committed and no source gives a seed.
        """
        if not self._advancing.acquire(blocking=False):
            return
        try:
            while not over.is_set():
                if self._state.may_plan():
                    try:
                        if not may_plan():
                            raise NothingToDo("the budget for seeds is spent")
                        self._plan()
                        continue
                    except NothingToDo:
                        if self._state.planned == self._state.committed:
                            raise  # else an epoch in flight may add seeds to the corpus
                if not self._commit():
                    return
        finally:
            self._advancing.release()

    def _plan(self) -> None:
        state, store = self._state, self._store
        items = self._retry(state.plan_next, self._configuration, self._space, store)
        if self._retry(store.items.add_epoch, self._campaign.id, state.planned + 1, items):
            state.record_plan(items)
        else:
            self._state = self._loaded_state()

    def _commit(self) -> bool:
        """Commit the next epoch; False while not all of its items are done."""
        state, store, campaign = self._state, self._store, self._campaign.id
        epoch = state.committed + 1
        results = self._retry(store.items.results_of_epoch, campaign, epoch)
        if results is None:
            return False
        with self._learning:
            result, event = state.learn_epoch(self._configuration, results, self._metrics.total_seconds)
            self._pending = {key: result for key, result in self._pending.items() if key[0] > epoch}
        if self._retry(store.commit_epoch, campaign, epoch, result):
            self._emit(event)
        else:  # another process was first, so there are others that complete items, which count too
            self._state = self._loaded_state()
            self._metrics.reload(*self._reloaded_figures())
        with self._learning:
            self._record_reached()
        return True
