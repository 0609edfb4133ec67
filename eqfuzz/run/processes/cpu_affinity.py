"""CPU affinity: one core for each worker."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator

_before: set[int] = set()
"""The cores of this process before it, or the process that it is a fork of, was pinned."""


class Cores:
    """One core for each of ``jobs`` workers, if these are all the cores there are.

    With fewer workers none is pinned: another run on the machine would choose the same cores, and both would share them
    while others are idle.
    """

    def __init__(self, jobs: int) -> None:
        allowed = sorted(os.sched_getaffinity(0))
        self._free = allowed if jobs == len(allowed) > 1 else []
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def one(self) -> Iterator[int | None]:
        """Context with a core that no other worker has, or None where workers share all cores."""
        with self._lock:
            core = self._free.pop() if self._free else None
        try:
            yield core
        finally:
            if core is not None:
                with self._lock:
                    self._free.append(core)


def pin(core: int | None) -> None:
    """Pin this process, and what it starts, to ``core``, unless that is no longer available."""
    if core is not None:
        allowed = os.sched_getaffinity(0)
        with contextlib.suppress(OSError):
            os.sched_setaffinity(0, {core})
            _before.update(allowed)


@contextlib.contextmanager
def unpinned() -> Iterator[None]:
    """Context in which this thread, and what it starts, use all cores of before ``pin``."""
    pinned = os.sched_getaffinity(0)
    if _before:
        os.sched_setaffinity(0, _before)
    try:
        yield
    finally:
        os.sched_setaffinity(0, pinned)
