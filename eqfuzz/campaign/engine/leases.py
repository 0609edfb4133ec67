"""What one worker of a campaign holds: items claimed, kept by its beat, finished or handed back."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

from eqfuzz.campaign.store.records import Claim, StoredFinding
from eqfuzz.campaign.store.retries import StoreRetrier
from eqfuzz.campaign.store.store import Store
from eqfuzz.campaign.worker_id import is_gone, worker_name

BEAT_SECONDS = 10.0
LOST_AFTER = 90.0
"""Seconds without a beat after which what a worker holds is handed out again."""


class Leases:
    """The items of a campaign that this process works at; any thread may ask."""

    def __init__(self, store: Store, retry: StoreRetrier) -> None:
        self.worker = worker_name()
        self._items = store.items
        self._retry = retry
        self._claiming = threading.Lock()
        self._held: set[int] = set()
        self._campaign = 0

    def begin(self, campaign: int) -> None:
        """Announce this worker to ``campaign`` and take back what the dead hold."""
        self._campaign = campaign
        # Told before anything is claimed: what a worker holds that nobody has ever heard of is never taken back.
        self._retry(self._tell_alive)
        self._retry(self._items.abandoned, time.time(), LOST_AFTER)
        for holder in self._retry(self._items.holders, campaign):
            if is_gone(holder):
                self._retry(self._items.hand_back, holder)

    def take(self) -> Claim | None:
        """The next item, where there is one.

        A server that goes while it answers may have handed out an item that nobody here has heard of, and an epoch
        with such an item would never be done: so what is not known of is handed back before it is asked again.
        """
        asked = False

        def claim() -> Claim | None:
            nonlocal asked
            if asked:
                self._items.hand_back_but(self.worker, frozenset(self._held))
            asked = True
            return self._items.claim(self._campaign, self.worker)

        with self._claiming:
            taken = self._retry(claim)
            if taken is not None:
                self._held.add(taken.case)
        return taken

    def finish(self, claim: Claim, outcome: Mapping[str, Any], findings: Sequence[StoredFinding]) -> bool:
        """Store what came of ``claim``, in one transaction; False where somebody else has it by now."""
        is_stored = self._retry(self._items.finish, claim, outcome, findings, time.time())
        self._held.discard(claim.case)
        return is_stored

    def give_up(self, claim: Claim) -> None:
        """Another worker may have ``claim``: this one has lost what worked at it."""
        self._held.discard(claim.case)
        self._retry(self._items.give_up, claim)

    def hand_back(self) -> None:
        """Hand back all that is held. Raises StoreError, at once."""
        self._items.hand_back(self.worker)

    def keep_alive(self, over: threading.Event) -> None:
        """Until ``over``, tell that this worker lives, and take back what silent ones hold.

        Not right after the store was away: then everybody has been silent.
        """
        before = time.monotonic()
        while not over.wait(BEAT_SECONDS):
            self._retry(self._tell_alive)
            now = time.monotonic()
            if now - before < LOST_AFTER / 2:
                self._retry(self._items.abandoned, time.time(), LOST_AFTER)
            before = now

    def _tell_alive(self) -> None:
        self._items.beat(self.worker, socket.gethostname(), os.getpid(), time.time())
