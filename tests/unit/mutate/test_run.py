"""A run over a list of seeds: their order, and its ends before all of them are completed."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eqfuzz.events.event import Event
from eqfuzz.events.run import SeedDone, SeedStarted
from eqfuzz.events.self_check import SelfCheckStep
from eqfuzz.mutate import run as mutate
from eqfuzz.mutate.parallel import Ending, run_all
from eqfuzz.mutate.run import run
from eqfuzz.mutate.settings import Settings
from eqfuzz.program.pools.seed_files import seed_files

FAILED = SelfCheckStep(step="a fault is found", passed=False, detail="no", seconds=0.1)


class Closable:
    def __init__(self) -> None:
        self.closed = threading.Event()

    def close(self) -> None:
        self.closed.set()


class PretendedRunner:
    """Runs a seed by emitting its events; one whose name begins with ``slow`` lasts until the pool is closed."""

    steps: tuple[SelfCheckStep, ...] = ()

    def __init__(self, settings: Settings, rules: Any) -> None:
        self.settings = settings
        self.rules = tuple(rules)
        self.pool = Closable()
        self.versions = {"torch": "2"}

    def __enter__(self) -> PretendedRunner:
        return self

    def __exit__(self, *raised: object) -> None:
        self.pool.close()

    def self_check(self) -> Any:
        return iter(self.steps)

    def seed_run(self, index: int, path: Path, emit: Callable[[Event], None], *_: Any, **__: Any) -> Any:
        def perform() -> None:
            emit(SeedStarted(index=index, seed=str(path)))
            if path.name.startswith("slow"):
                assert self.pool.closed.wait(30)
            emit(SeedDone(index=index, seed=str(path), seconds=1.0, cpu_seconds=1.0, timings={}))

        pretended = Closable()
        pretended.run = perform  # type: ignore[attr-defined]
        return pretended


def written(folder: Path, sizes: dict[str, int]) -> Path:
    for name, size in sizes.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#" * size, encoding="utf-8")
    return folder


def test_folders_take_turns_and_their_smallest_seed_is_first(tmp_path: Path) -> None:
    written(tmp_path, {"b/large.py": 9, "b/small.py": 1, "a/large.py": 5, "a/small.py": 2, "a/b.py": 5, "top.py": 7})
    names = [str(path.relative_to(tmp_path)) for path in seed_files([tmp_path])]
    assert names == ["top.py", "a/small.py", "b/small.py", "a/b.py", "b/large.py", "a/large.py"]
    named = [tmp_path / "b/large.py", tmp_path / "a/small.py"]
    assert seed_files(named) == named


def test_calls_end_at_the_deadline() -> None:
    pool, stop = Closable(), threading.Event()
    began = time.monotonic()
    ending = run_all(pool, [lambda: pool.closed.wait(30)], stop, jobs=1, deadline=began + 0.1)  # type: ignore[arg-type]
    assert ending is Ending.OUT_OF_TIME
    assert stop.is_set()


def test_calls_that_are_completed_are_done_also_after_the_deadline() -> None:
    ending = run_all(Closable(), [lambda: None], threading.Event(), jobs=1)  # type: ignore[arg-type]
    assert ending is Ending.DONE


def test_seeds_that_were_not_completed_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mutate, "SeedRunner", PretendedRunner)
    seeds = written(tmp_path / "seeds", {"quick.py": 1, "slow.py": 2, "waits.py": 3})
    events: list[Event] = []
    summary = run(Settings(paths=(seeds,), out=tmp_path / "out", time=0.3), events.append)
    assert summary.out_of_time
    assert not summary.interrupted
    assert summary.left_out == [str(seeds / "slow.py"), str(seeds / "waits.py")]
    assert [event.name for event in events if event.name == "done"] == ["done"]

    whole = run(Settings(paths=(seeds / "quick.py",), out=tmp_path / "out", time=30.0), events.append)
    assert (whole.out_of_time, whole.left_out) == (False, [])


def test_self_check_that_fails_ends_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mutate, "SeedRunner", PretendedRunner)
    monkeypatch.setattr(mutate, "MANY_SEEDS", 1)
    monkeypatch.setattr(PretendedRunner, "steps", (FAILED,))
    seeds = written(tmp_path / "seeds", {"slow.py": 1})
    summary = run(Settings(paths=(seeds,), out=tmp_path / "out", jobs=2), lambda event: None)
    assert summary.errors == ["the self-check fails, so results would mean nothing: a fault is found: no"]
    assert summary.left_out == [str(seeds / "slow.py")]
