"""Leases of one worker process: items acquired, kept by heartbeats, then completed, failed or released."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Sequence

from eqfuzz.campaign.store.outcome import Outcome
from eqfuzz.campaign.store.records import Lease, StoredFinding
from eqfuzz.campaign.store.retries import StoreRetrier
from eqfuzz.campaign.store.store import Store
from eqfuzz.campaign.worker_id import has_ended, worker_id

HEARTBEAT_SECONDS = 10.0
EXPIRES_AFTER = 90.0
"""Seconds without a heartbeat after which the leases of a worker expire."""


class Leases:
    """The leases of this process; any thread may use them.

    Creating it announces the worker to ``campaign`` and releases the leases of workers that have ended.
    """

    def __init__(self, store: Store, campaign: int, retry: StoreRetrier) -> None:
        self.worker = worker_id()
        self._items = store.items
        self._campaign = campaign
        self._retry = retry
        self._acquiring = threading.Lock()
        self._held: set[int] = set()
        # Before anything is acquired: leases of a worker without any heartbeat never expire.
        self._send_heartbeat()
        self._release_expired()
        for worker in retry(store.workers, campaign):
            if has_ended(worker):
                retry(self._items.release_worker, worker)

    def acquire(self) -> Lease | None:
        """A lease on the next item; None where there is none.

        A server that disconnects while it answers may have leased out an item without this process knowing, and the
        epoch of such an item would never be done: before a retry, leases that are not known here are released.
        """
        is_retry = False

        def acquire() -> Lease | None:
            nonlocal is_retry
            if is_retry:
                self._items.release_unknown(self.worker, frozenset(self._held))
            is_retry = True
            return self._items.lease(self._campaign, self.worker)

        with self._acquiring:
            lease = self._retry(acquire)
            if lease is not None:
                self._held.add(lease.case)
        return lease

    def complete(self, lease: Lease, outcome: Outcome, findings: Sequence[StoredFinding]) -> bool:
        """Store the result of an item in one transaction; False where the lease has expired."""
        is_stored = self._retry(self._items.complete, lease, outcome, findings, time.time())
        self._held.discard(lease.case)
        return is_stored

    def fail(self, lease: Lease) -> None:
        """End a lease whose attempt has failed; another worker may acquire the item."""
        self._held.discard(lease.case)
        self._retry(self._items.fail, lease)

    def release_all(self) -> None:
        """Release all leases of this worker. Raises StoreError, at once."""
        self._items.release_worker(self.worker)

    def send_heartbeats(self, over: threading.Event) -> None:
        """Send heartbeats and release expired leases until ``over``.

        Nothing is released just after the store was unavailable: then no worker could send a heartbeat.
        """
        before = time.monotonic()
        while not over.wait(HEARTBEAT_SECONDS):
            self._send_heartbeat()
            now = time.monotonic()
            if now - before < EXPIRES_AFTER / 2:
                self._release_expired()
            before = now

    def _send_heartbeat(self) -> None:
        # The time is taken anew on each try.
        self._retry(lambda: self._items.heartbeat(self.worker, socket.gethostname(), os.getpid(), time.time()))

    def _release_expired(self) -> None:
        self._retry(lambda: self._items.release_expired(time.time(), EXPIRES_AFTER))
