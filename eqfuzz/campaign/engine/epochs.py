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
from eqfuzz.campaign.store.records import Campaign, Json, StoredFinding
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
        self._state = self._loaded_state()
        metrics.load_earlier_calls(*retry(self._stored_figures))

    def _loaded_state(self) -> CampaignState:
        return self._retry(CampaignState.load, self._store, self._campaign.name)

    def _stored_figures(self) -> tuple[list[Json], list[Outcome], list[StoredFinding]]:
        """The curve, the outcomes of items of epochs that are not committed yet, and the findings."""
        store, campaign = self._store, self._campaign.id
        outcomes = store.items.outcomes_after(campaign, self._state.committed)
        return store.curve(campaign), outcomes, store.findings(campaign)

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
        if self._retry(store.commit_epoch, campaign, epoch, result):
            self._emit(event)
        else:  # another process was first, so there are others that complete items, which count too
            self._state = self._loaded_state()
            self._metrics.reload(*self._retry(self._stored_figures))
        return True
