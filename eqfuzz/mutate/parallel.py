"""Several cases at once through one pool, until all are done or Ctrl-C."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from typing import Any

from eqfuzz.run.processes.pool import Pool


def all_through(pool: Pool, work: Iterable[Callable[[], Any]], stop: threading.Event, *, jobs: int) -> bool:
    """Call every piece of ``work`` in one of ``jobs`` threads. Returns whether Ctrl-C ended it early.

    At the end ``stop`` is set and the pool closed, which ends the cases still running. Raises what the work raises.
    """
    threads = ThreadPoolExecutor(jobs, thread_name_prefix="case")
    try:
        pending = {threads.submit(piece) for piece in work}
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
