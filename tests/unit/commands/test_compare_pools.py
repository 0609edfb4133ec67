"""Comparison of pools: equal CPU time, rounds, figures, and how a second call continues."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from eqfuzz.commands import compare_pools as module
from eqfuzz.commands.compare_pools import compare_pools, compared_pools
from eqfuzz.errors import UsageError
from eqfuzz.events.comparison import CaseCompared, ComparisonStarted, ComparisonSummary
from eqfuzz.events.run import CellJudged, LinesCovered, SeedDone, SeedInvalid, SeedRewritten
from eqfuzz.mutate.seed_run import InternalError
from eqfuzz.mutate.settings import RewriteSettings, Settings
from eqfuzz.oracle.compare.verdict import Verdict, VerdictKind
from eqfuzz.report.verbs.compare import ComparisonReport, write_charts

SEED = "def program(x): return x + 1\ndef inputs(rng): yield (rng.normal(3),)\n"
COSTS = {"cheap": 1.0, "dear": 3.0}


class SeedRunnerFake:
    """Every seed has one cell, costs what its name says, and runs one line that depends on its round."""

    def __init__(self, settings: Settings, rules: list[str]) -> None:
        self.settings = settings
        self.versions = {"torch": "2.15.0"}
        self.pool = SimpleNamespace(close=lambda: None)
        self.runs: list[tuple[str, int, bool]] = []

    def __enter__(self) -> SeedRunnerFake:
        runners.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def seed_run(self, index: int, path: Path, emit: Any, stop: Any, *, settings: Settings, bucketer: Any) -> Any:
        def run() -> None:
            self.runs.append((path.stem, settings.seed, settings.guard_steps > 0))
            about = {"index": index, "seed": str(path)}
            if path.stem.startswith("internal"):
                raise InternalError("a defect of eqfuzz", "")
            if path.stem.startswith("invalid"):
                emit(SeedInvalid(**about, reason="raises in eager"))
            else:
                emit(SeedRewritten(**about, sites=3, variants=1, cells=1))
                kind = VerdictKind.PROCESS_CRASH if path.stem.startswith("crash") else VerdictKind.AGREE
                cell = {"variant": 0, "rules": [], "device": "cpu", "config": "inductor", "seconds": 1.0}
                emit(CellJudged(**about, **cell, verdict=Verdict(kind, "")))
                own = "dear.py" if path.parent.name == "dear" else "cheap.py"
                emit(LinesCovered(**about, files={"both.py": "2", own: f"{2 << settings.seed:x}"}))
            emit(SeedDone(**about, seconds=1.0, cpu_seconds=COSTS[path.parent.name], timings={}))

        return SimpleNamespace(run=run)


runners: list[SeedRunnerFake] = []


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, list[str]]:
    """The seeds of each pool, to be written by ``compared``."""
    monkeypatch.setattr(module, "SeedRunner", SeedRunnerFake)
    monkeypatch.chdir(tmp_path)
    runners.clear()
    return {"cheap": ["a", "b"], "dear": ["c"]}


def compared(folders: dict[str, list[str]], budget: float, **rewriting: Any) -> tuple[ComparisonSummary, list[Any]]:
    for name, seeds in folders.items():
        Path(name).mkdir(exist_ok=True)
        for seed in seeds:
            (Path(name) / f"{seed}.py").write_text(SEED)
    settings = Settings(out=Path("out"), rewriting=RewriteSettings(**rewriting), known_issues=())
    events: list[Any] = []
    return compare_pools(settings, compared_pools(list(folders)), budget, events.append), events


def test_pools_get_the_same_cpu_time_in_rounds(folders):
    summary, events = compared(folders, 6.0)
    assert {name: pool.cpu_seconds for name, pool in summary.pools.items()} == {"cheap": 6.0, "dear": 6.0}
    assert {name: pool.cells for name, pool in summary.pools.items()} == {"cheap": 6, "dear": 2}
    order = [event.pool for event in events if isinstance(event, CaseCompared)]
    assert Counter(order[:4]) == {"cheap": 3, "dear": 1}
    by_seed = defaultdict(list)
    for seed, random_seed, has_guard_cell in runners[0].runs:
        by_seed[seed].append((random_seed, has_guard_cell))
    assert by_seed["a"] == [(0, True), (1, False), (2, False)]
    assert by_seed["c"] == [(0, True), (1, False)]


def test_lines_are_counted_once_and_apart(folders):
    summary, _ = compared(folders, 6.0)
    cheap, dear = summary.pools["cheap"], summary.pools["dear"]
    assert (cheap.lines, cheap.only) == (1 + 3, 3)
    assert (dear.lines, dear.only) == (1 + 2, 2)
    assert summary.coverage["dear"] == [(0.0, 0), (3.0, 2), (6.0, 3)]


def test_second_call_continues_the_first(folders):
    compared(folders, 3.0)
    summary, events = compared(folders, 6.0)
    assert events[0].spent == {"cheap": 3.0, "dear": 3.0}
    assert len(runners[1].runs) == 3 + 1
    assert summary.pools["cheap"].cells == 6
    again, events = compared(folders, 6.0)
    assert (again.pools, again.coverage) == (summary.pools, summary.coverage)
    assert not [event for event in events if isinstance(event, CaseCompared)]


def test_pool_without_variants_to_draw_is_exhausted(folders):
    summary, _ = compared(folders, 6.0, strategy="none")
    assert summary.exhausted == ["cheap", "dear"]
    assert summary.pools["cheap"].cpu_seconds == 2.0


def test_invalid_seeds_run_once_and_crashes_are_counted_apart(folders):
    folders["cheap"] = ["invalid", "crash"]
    summary, _ = compared(folders, 6.0)
    cheap = summary.pools["cheap"]
    assert (cheap.seeds, cheap.invalid, cheap.cells) == (2, 1, 5)
    assert cheap.defective == {"process-crash": 5}
    assert summary.findings["cheap"][-1] == (6.0, 5, 5)
    assert [seed for seed, *_ in runners[0].runs].count("invalid") == 1


def test_internal_errors_are_reported_and_end_nothing(folders):
    folders["cheap"] = ["internal"]
    summary, _ = compared(folders, 3.0)
    assert summary.errors
    assert all("a defect of eqfuzz" in error for error in summary.errors)
    assert summary.pools["dear"].cells == 1
    again, _ = compared(folders, 3.0)
    assert again.errors == summary.errors


def test_table_and_charts_show_each_pool(folders, tmp_path):
    folders["cheap"] = ["crash"]
    summary, events = compared(folders, 6.0)
    console = Console(record=True, width=100, force_terminal=False)
    with ComparisonReport(console) as report:
        for event in events:
            report.handle(event)
    text = console.export_text()
    rows = {line[:22].strip(): line[22:].split() for line in text.splitlines()}
    assert rows["compiled cells"] == ["6", "2"]
    assert rows["process-crash"] == ["6", "0"]
    assert rows["cells per CPU minute"] == ["60.0", "20.0"]
    started = next(event for event in events if isinstance(event, ComparisonStarted))
    files = write_charts(tmp_path, started, summary)
    assert [file.name for file in files] == ["compare-coverage.svg", "compare-findings.svg"]
    assert "cheap, process crashes, 6" in files[1].read_text()


def test_charts_of_pools_without_defects_are_flat(folders, tmp_path):
    summary, events = compared(folders, 3.0)
    files = write_charts(tmp_path, events[0], summary)
    assert "cheap, 0" in files[1].read_text()
    Path("out/compare.jsonl").unlink()
    nothing, events = compared(folders, 0.0)
    assert write_charts(tmp_path, events[0], nothing) == []


def test_pools_are_folders_and_the_shipped_seeds(folders):
    compared(folders, 0.5)
    pools = compared_pools(["default", "cheap"])
    assert len(pools[0].seeds) > 100
    assert [path.name for path in pools[1].seeds] == ["a.py", "b.py"]
    with pytest.raises(UsageError, match="nowhere: no such file or folder"):
        compared_pools(["nowhere", "cheap"])
