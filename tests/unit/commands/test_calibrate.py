"""A full self-check: what is left of an interrupted one, and of one by an earlier version."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from eqfuzz.commands.calibrate import CAPABILITY, Calibration, Sizes
from eqfuzz.events.event import Event
from eqfuzz.events.self_check import SelfCheckProgress
from eqfuzz.oracle.calibration.recall import RecallRow
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


def test_journal_of_an_earlier_version_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    row = {"fault": "zeroed", "dtype": "float32", "group": "outputs", "planted": 4, "seen": {"eqfuzz": 3}, "missed": {}}
    table = {
        "rows": [row],
        "subjects": {"float32": 1},
        "wolves": {"float32": {"NNSmith": 1}},
        "left_out": [],
        "claims": [],
    }
    (program, *_) = Calibration(tmp_path, lambda _: None, Sizes(), jobs=1, seed=0).programs
    entry = f"recall {program.name} 0 {Sizes().draws}", table
    (tmp_path / "measured.jsonl").write_text(json.dumps(entry) + "\n", encoding="utf-8")
    calibration = Calibration(tmp_path, lambda _: None, Sizes(), jobs=1, seed=0)
    calibration.programs = [program]
    monkeypatch.setattr(calibration, "_pool", lambda *_, **__: Children({}))
    calibration.recall()
    assert calibration.table.rows[RecallRow("zeroed", "float32", "outputs")].detected == {"eqfuzz": 3}
    assert calibration.table.programs == {"float32": 1}
    assert calibration.table.false_alarms == {"float32": {"NNSmith": 1}}


def test_runs_with_other_vector_widths_show_progress(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    events: list[Event] = []
    calibration = Calibration(tmp_path, events.append, Sizes(), jobs=1, seed=0)
    calibration.programs = calibration.programs[:2]
    monkeypatch.setattr(calibration, "_pool", lambda *_, **__: Children({}))
    calibration.capability()
    progress = [(event.part, event.done, event.total) for event in events if isinstance(event, SelfCheckProgress)]
    widths = [(name, number) for number, name in enumerate(["default"] * 2 + ["avx2"] * 2 + ["avx512"] * 2, 1)]
    assert progress == [
        *((f"{CAPABILITY}, {name}", number, 6) for name, number in widths),
        (CAPABILITY, 1, 2),
        (CAPABILITY, 2, 2),
    ]
