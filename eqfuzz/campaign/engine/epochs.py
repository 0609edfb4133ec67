"""What all workers of a campaign share of its learning: epochs are planned and settled in the one order."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from eqfuzz.campaign.configuration import Configuration
from eqfuzz.campaign.engine.knowledge import CampaignKnowledge
from eqfuzz.campaign.engine.plan import NothingToDo
from eqfuzz.campaign.executors.item_runner import without_known
from eqfuzz.campaign.metrics import Statistics
from eqfuzz.campaign.sources.files import SeedSource
from eqfuzz.campaign.store.records import Json, StoredFinding
from eqfuzz.campaign.store.retries import StoreRetrier
from eqfuzz.campaign.store.store import Store
from eqfuzz.events.event import Handler


class EpochScheduler:
    """The learning of the campaign ``name``. ``statistics`` take over what others do that work for it too."""

    def __init__(
        self,
        name: str,
        configuration: Configuration,
        store: Store,
        statistics: Statistics,
        retry: StoreRetrier,
        emit: Handler,
    ) -> None:
        self._name = name
        self._configuration = configuration
        self._store = store
        self._statistics = statistics
        self._retry = retry
        self._emit = emit
        self._lock = threading.Lock()
        self._knowing = threading.Lock()
        """Held while what is known changes; the other one also while seeds are drawn, and a model may take its time."""
        self._campaign_id = 0
        self._learnt: CampaignKnowledge | None = None

    def begin(self, campaign_id: int) -> None:
        """Read what the store knows."""
        self._campaign_id = campaign_id
        self._read()
        self._statistics.begin(*self._retry(self._figures_kept))

    @property
    def _known(self) -> CampaignKnowledge:
        assert self._learnt is not None
        return self._learnt

    def _read(self) -> None:
        self._learnt = self._retry(CampaignKnowledge.read, self._store, self._name)

    def _figures_kept(self) -> tuple[list[Json], list[Json], list[StoredFinding]]:
        """The curve, what came of items of epochs that are not settled yet, and the findings, as the store has them."""
        store, campaign = self._store, self._campaign_id
        return store.curve(campaign), store.items.finished(campaign, self._known.settled), store.findings(campaign)

    def new_of(self, outcome: dict[str, Any]) -> dict[str, Any]:
        """``outcome`` without what is known already."""
        with self._knowing:
            known = self._known.known
            return without_known(outcome, known.features, known.lines)

    def yields(self) -> dict[str, dict[str, float]]:
        """See ``CampaignKnowledge.yields``."""
        return self._known.yields()

    def advance(
        self,
        sources: Sequence[SeedSource],
        families: Sequence[str],
        configs: Sequence[str],
        may_plan: Callable[[], bool],
        over: threading.Event,
    ) -> None:
        """Plan what may be planned and settle what is done, until ``over``.

        Raises NothingToDo once all that was planned is settled, and Ending.
        """
        if not self._lock.acquire(blocking=False):
            return
        try:
            while not over.is_set():
                if self._known.may_plan():
                    try:
                        if not may_plan():
                            raise NothingToDo("the budget for seeds is spent")
                        self._plan(sources, families, configs)
                        continue
                    except NothingToDo:
                        if self._known.planned == self._known.settled:
                            raise  # else what is still done may teach of more
                if not self._settle():
                    return
        finally:
            self._lock.release()

    def _plan(self, sources: Sequence[SeedSource], families: Sequence[str], configs: Sequence[str]) -> None:
        learnt, store = self._known, self._store
        items = self._retry(learnt.next_items, self._configuration, sources, families, configs, store)
        if self._retry(store.items.add_epoch, self._campaign_id, learnt.planned + 1, items):
            learnt.take_plan(items)
        else:
            self._read()

    def _settle(self) -> bool:
        """Whether the next epoch could be settled."""
        learnt, store = self._known, self._store
        epoch = learnt.settled + 1
        outcomes = self._retry(store.items.outcomes, self._campaign_id, epoch)
        if outcomes is None:
            return False
        campaign = self._retry(store.campaign, self._name)
        assert campaign is not None
        seconds = self._statistics.total_seconds
        with self._knowing:
            settlement, event = learnt.settle(store, campaign, self._configuration, outcomes, seconds)
        if self._retry(store.settle, self._campaign_id, epoch, settlement):
            self._emit(event)
        else:  # somebody else was first, so there are others that do items, and these count too
            self._read()
            self._statistics.take_over(*self._retry(self._figures_kept))
        return True
