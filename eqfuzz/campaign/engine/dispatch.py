"""Dispatch of a campaign's events: counted, then handed to the handler, one at a time."""

from __future__ import annotations

import threading

from eqfuzz.campaign.metrics import CampaignMetrics
from eqfuzz.events.campaign import ItemEnded
from eqfuzz.events.event import Event, Handler
from eqfuzz.events.run import FindingReported
from eqfuzz.mutate.invalid_seeds import InvalidSeeds


class EventDispatcher:
    """Hands the events of all threads to ``handler``, one at a time."""

    def __init__(self, metrics: CampaignMetrics, handler: Handler) -> None:
        self.metrics = metrics
        self.invalid_seeds = InvalidSeeds()
        """Invalid seeds of this call."""
        self.new_buckets: set[str] = set()
        """Buckets of this call's findings that are no known issue."""
        self._handler = handler
        self._lock = threading.Lock()

    def emit(self, event: Event) -> None:
        with self._lock:
            self.metrics.count_event(event)
            match event:
                case FindingReported(issue=""):
                    self.new_buckets.add(event.bucket or event.finding.id)
                case ItemEnded(index=index, seed=seed, state=state, reason=reason):
                    self.invalid_seeds.add_tried(seed)
                    if state == "invalid":
                        self.invalid_seeds.add(index, seed, reason)
                case _:
                    pass
            self._handler(event)
