"""Parallel calls that use one pool, until all are done or Ctrl-C."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from typing import Any

from eqfuzz.run.processes.pool import Pool


def run_all(pool: Pool, work: Iterable[Callable[[], Any]], stop: threading.Event, *, jobs: int) -> bool:
    """Call everything in ``work`` in ``jobs`` threads; returns whether Ctrl-C ended it early.

    At the end ``stop`` is set and the pool closed, which ends jobs that still run. Raises the first error of a call.
    """
    threads = ThreadPoolExecutor(jobs, thread_name_prefix="case")
    try:
        pending = {threads.submit(call) for call in work}
        while pending:
            done, pending = wait(pending, timeout=0.5, return_when=FIRST_COMPLETED)
            for future in done:
                future.result()
    except KeyboardInterrupt:
        return True
    finally:
        stop.set()
        threads.shutdown(wait=False, cancel_futures=True)
        pool.close()
        threads.shutdown(wait=True)
    return False
