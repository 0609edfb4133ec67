"""Retries of store operations while the database is unavailable, with exponential back-off and jitter."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from eqfuzz.campaign.store.errors import StoreError, StoreUnavailable

FIRST_SECONDS = 0.1
MOST_SECONDS = 10.0

_P = ParamSpec("_P")
_T = TypeVar("_T")


class StoreRetrier:
    """Calls store operations, again for as long as they raise StoreUnavailable. Threads may share it.

    ``report`` gets each error with the seconds until the next attempt, and ``(None, 0.0)`` when the store is back; an
    error that the first retry clears is not reported. Once ``stop`` is set there are no more retries.
    """

    def __init__(self, report: Callable[[StoreError | None, float], None], stop: threading.Event) -> None:
        self._report = report
        self._stop = stop
        self._rng = random.Random()

    def __call__(self, operation: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
        """What ``operation(*args, **kwargs)`` returns. Raises StoreError: the last one once stopped, others at once."""
        retries = 0
        while True:
            try:
                result = operation(*args, **kwargs)
            except StoreUnavailable as error:
                if self._stop.is_set():
                    raise
                seconds = min(MOST_SECONDS, FIRST_SECONDS * 2**retries) * self._rng.uniform(0.5, 1.0)
                if retries:
                    self._report(error, seconds)
                retries += 1
                self._stop.wait(seconds)
            else:
                if retries > 1:
                    self._report(None, 0.0)
                return result
