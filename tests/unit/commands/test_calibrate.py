"""A full self-check that is interrupted ends at once, and keeps only what was measured to its end."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from eqfuzz.commands.calibrate import Calibration, Sizes
from eqfuzz.program.program import Program
from tests.unit.children import Children


def test_interruption_closes_the_pool_and_journals_nothing_of_what_ran(tmp_path: Path) -> None:
    measured = Calibration(tmp_path, lambda _: None, Sizes(), jobs=1, seed=0)
    pool = Children({})
    is_running = threading.Event()
    first, second = measured.programs[:2]

    def one(program: Program) -> str:
        def measure() -> str:
            if program is second:
                is_running.set()
                assert pool.closing.wait(30)
            return program.name

        return measured.result_of(program.name, pool, measure)

    results = measured._each(pool, one, [first, second])
    assert next(results) == (first, first.name)
    assert is_running.wait(30)
    with pytest.raises(KeyboardInterrupt):
        results.throw(KeyboardInterrupt())
    assert pool.closing.is_set()
    journal = (tmp_path / "measured.jsonl").read_text(encoding="utf-8")
    assert [json.loads(line) for line in journal.splitlines()] == [[first.name, first.name]]
