"""Parallel calls that use one pool, until all are done, a deadline or Ctrl-C."""

from __future__ import annotations

import contextlib
import enum
import math
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from typing import Any

from eqfuzz.run.processes.pool import Pool


class Ending(enum.Enum):
    """Why parallel calls have ended."""

    DONE = enum.auto()
    INTERRUPTED = enum.auto()
    OUT_OF_TIME = enum.auto()
    STOPPED = enum.auto()


@contextlib.contextmanager
def pool_threads(pool: Pool, jobs: int, name: str) -> Iterator[ThreadPoolExecutor]:
    """Context with ``jobs`` threads that use ``pool``, which is closed at its end: that ends jobs that still run."""
    threads = ThreadPoolExecutor(jobs, thread_name_prefix=name)
    try:
        yield threads
    finally:
        threads.shutdown(wait=False, cancel_futures=True)
        pool.close()
        threads.shutdown(wait=True)


def run_all(
    pool: Pool,
    work: Iterable[Callable[[], Any]],
    stop: threading.Event,
    *,
    jobs: int,
    deadline: float = math.inf,
) -> Ending:
    """Call everything in ``work`` in ``jobs`` threads, until all is done, Ctrl-C, ``deadline`` or a call sets ``stop``.

    ``deadline`` is a value of ``time.monotonic``. At the end ``stop`` is set and the pool closed, which ends jobs that
    still run. Raises the first error of a call.
    """
    with pool_threads(pool, jobs, "case") as threads:
        try:
            pending = {threads.submit(call) for call in work}
            while pending:
                left = min(0.5, max(0.0, deadline - time.monotonic()))
                done, pending = wait(pending, timeout=left, return_when=FIRST_COMPLETED)
                for future in done:
                    future.result()
                if stop.is_set():
                    return Ending.STOPPED
                if pending and time.monotonic() >= deadline:
                    return Ending.OUT_OF_TIME
        except KeyboardInterrupt:
            return Ending.INTERRUPTED
        finally:
            stop.set()
    return Ending.DONE
