"""What an untrusted child may report: events about its own cells, in bounded numbers.

Its process could write anything on its pipe. The decoder takes messages of the job's own kinds only; here it is checked
that they are about this job. They may still be untrue.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from eqfuzz.errors import one_line
from eqfuzz.run.messages.job import ChildEvent, Job, StageEntered
from eqfuzz.run.protocol import BadMessage

LINE_BYTES = 16 * 2**20
EVENTS = 2000
"""That a job may send, and besides ``EVENTS_OF_CELL`` for each cell."""

EVENTS_OF_CELL = 20

_LONG_STAGE = 1800.0
_MOST_VARIANTS = 1000


class EventValidator:
    """Checks the events of one ``job``, one after the other.

    ``seconds`` is what the job may take in all, ``line_bytes`` how long one event may be.
    """

    line_bytes = LINE_BYTES

    def __init__(self, job: Job[Any]) -> None:
        scope = job.scope
        self._places = {(device, config) for device in scope.devices for config in scope.configs} | {("", "")}
        self._max_variants = scope.variants or _MOST_VARIANTS
        self._variants = 1  # jobs about a finding look at one, and do not report how many there are
        self._unique: set[Hashable] = set()
        self._count = 0
        cells = (1 + min(self._max_variants, _MOST_VARIANTS)) * max(1, len(scope.configs) * len(scope.devices))
        self._max_count = EVENTS + EVENTS_OF_CELL * cells
        limits = scope.limits
        self._longest = max(_LONG_STAGE, 5 * limits.compile_s)
        self.seconds = 600.0 + 40 * limits.eager_s + cells * (2 * limits.compile_s + 10 * limits.eager_s)

    def check(self, event: ChildEvent) -> None:
        """Raises BadMessage where this job cannot report the event."""
        self._count += 1
        if self._count > self._max_count:
            raise BadMessage(f"more than {self._max_count} events")
        if isinstance(event, StageEntered) and not event.seconds <= self._longest:
            raise BadMessage(f"a stage of more than {self._longest:g} seconds")
        if event.cell is not None:
            variant, *place = event.cell
            if tuple(place) not in self._places:
                raise BadMessage(f"a cell that the job does not have: {one_line(repr(tuple(place)), 80)}")
            if variant > self._variants:
                raise BadMessage("a variant that the job does not have")
        key = event.unique_key
        if key is not None:
            if key in self._unique:
                raise BadMessage(f"a second {event.message_name} event for {one_line(repr(key), 80)}")
            self._unique.add(key)
        if event.variant_count is not None:
            if event.variant_count > self._max_variants:
                raise BadMessage("more variants than were requested")
            self._variants = event.variant_count
