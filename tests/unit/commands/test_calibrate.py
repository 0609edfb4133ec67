"""A full self-check that is interrupted ends at once, and keeps only what was measured to its end."""

from __future__ import annotations

import signal
import threading
from pathlib import Path
from typing import Any

import pytest

from eqfuzz.commands.calibrate import Calibration, Sizes
from tests.unit.children import Children


def test_interruption_closes_the_pool_and_journals_nothing_of_what_ran(tmp_path: Path) -> None:
    measured = Calibration(tmp_path, lambda _: None, Sizes(), jobs=1, seed=0)
    pool = Children({})
    is_running = threading.Event()

    def one(program: Any) -> Any:
        def wait() -> str:
            is_running.set()
            assert pool.closing.wait(30)
            return "not whole"

        return measured.result_of(program.name, pool, wait)

    results = measured._each(pool, one, measured.programs[:2])
    threading.Thread(target=_interrupt, args=(is_running,)).start()
    with pytest.raises(KeyboardInterrupt):
        next(results)
    assert pool.closing.is_set()
    assert not (tmp_path / "measured.jsonl").exists()


def _interrupt(is_running: threading.Event) -> None:
    assert is_running.wait(30)
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
