"""Operations on a store tried again for as long as what hinders them may pass."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from typing import Protocol, TypeVar

from eqfuzz.campaign.store.database import StoreError, StoreUnavailable

FIRST_SECONDS = 0.1
MOST_SECONDS = 10.0

_T = TypeVar("_T")


class Retrier(Protocol):
    """Returns what an operation on the store returns, tried again for as long as its trouble may pass."""

    def __call__(self, operation: Callable[[], _T], /) -> _T: ...


def with_patience(
    operation: Callable[[], _T],
    tell: Callable[[StoreError | None, float], None],
    stop: threading.Event,
    rng: random.Random,
) -> _T:
    """What ``operation`` returns. Where the store is unavailable it is tried again, waiting ever longer.

    ``tell`` gets each error with the seconds until the next try, and None when it is over; an error that is over at the
    second try is not told. ``stop`` ends the patience: the error is raised, as is every StoreError that will not pass.
    """
    tries = 0
    while True:
        try:
            result = operation()
        except StoreUnavailable as error:
            if stop.is_set():
                raise
            seconds = min(MOST_SECONDS, FIRST_SECONDS * 2**tries) * rng.uniform(0.5, 1.0)
            if tries:
                tell(error, seconds)
            tries += 1
            stop.wait(seconds)
        else:
            if tries > 1:
                tell(None, 0.0)
            return result
