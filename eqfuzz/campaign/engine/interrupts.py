"""Ctrl-C and the like, counted."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def counting_signals(count: Callable[[], None]) -> Iterator[None]:
    """SIGINT and SIGTERM are counted meanwhile, where otherwise the second could cut short what the first began."""
    if threading.current_thread() is not threading.main_thread():
        yield  # signals are not for this thread to handle
        return
    before = {number: signal.signal(number, lambda *_: count()) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
