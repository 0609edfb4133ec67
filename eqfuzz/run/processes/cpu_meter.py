"""CPU seconds of the processes that a thread has waited for: children of a pool, and fresh ones."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from contextvars import ContextVar


class CpuMeter:
    """Sums CPU seconds. Any thread may call ``add``."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._lock = threading.Lock()

    def add(self, seconds: float) -> None:
        with self._lock:
            self.seconds += seconds


_METER: ContextVar[CpuMeter | None] = ContextVar("meter", default=None)


@contextlib.contextmanager
def metering() -> Iterator[CpuMeter]:
    """The context whose processes are counted: those of this thread, and of threads that ``joined()`` starts.

    An outer meter counts them too.
    """
    outer, meter = _METER.get(), CpuMeter()
    token = _METER.set(meter)
    try:
        yield meter
    finally:
        _METER.reset(token)
        if outer is not None:
            outer.add(meter.seconds)


def count_cpu(seconds: float) -> None:
    """Count a process that has ended; nothing outside of ``metering``."""
    meter = _METER.get()
    if meter is not None:
        meter.add(seconds)


def joined() -> Callable[[], None]:
    """What a new thread calls first for its processes to be counted with those of this thread."""
    meter = _METER.get()

    def join() -> None:
        _METER.set(meter)

    return join
