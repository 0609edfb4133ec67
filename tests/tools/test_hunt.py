"""What a hunt runs, in which go, and when it ends."""

import types
from collections import Counter
from pathlib import Path

import pytest

from eqfuzz.events.run import CellJudged, FindingReported, SeedDone
from eqfuzz.oracle.compare.verdict import Verdict, VerdictKind
from eqfuzz.run.protocol import RunnerFailed
from tools.fault_detection import hunt as module
from tools.fault_detection.clean import CleanRun
from tools.fault_detection.corpus import Entry
from tools.fault_detection.fault import read_faults
from tools.fault_detection.hunt import PHASES, Hunt, Hunter, Record
from tools.fault_detection.reach import Replaced


class Runs:
    """In place of SeedRun: remembers what was run, and emits what ``shows`` says of a program."""

    def __init__(self):
        self.made = []
        self.shows = {}

    def __call__(self, *, path, settings, emit, **_):
        def run():
            config = settings.configs[0].name
            self.made.append((path.stem, config))
            shown = self.shows.get(path.stem, ())
            if isinstance(shown, Exception):
                raise shown
            verdict = Verdict(VerdictKind.WRONG_RESULT if shown else VerdictKind.AGREE, "so it is")
            emit(CellJudged(0, str(path), 0, [], "cpu", config, verdict, 1.0))
            for folder in shown:
                finding = types.SimpleNamespace(verdict=verdict, config=config, ablation=None)
                emit(FindingReported(0, finding, str(folder), known=False))
            emit(SeedDone(0, str(path), 1.0, 3.0, {"g++": 1.0}))

        return types.SimpleNamespace(run=run)


class Own:
    """In place of OwnDefects."""

    def is_own(self, finding):
        return finding.name.startswith("own")


@pytest.fixture
def runs(monkeypatch):
    made = Runs()
    monkeypatch.setattr(module, "SeedRun", made)
    return made


@pytest.fixture
def hunter_of(tmp_path, runs):
    entries = [Entry(tmp_path / f"{name}.py") for name in ("a", "b", "c")]
    for entry in entries:
        entry.path.write_text("x = 1\n")

    def make(out=tmp_path / "out", **options):
        return Hunter(read_faults()[0], entries, 0, Own(), out, tmp_path / "kernels", **options)

    return make


def test_the_find_ends_the_hunt(hunter_of, runs):
    runs.shows = {"b": [Path("theirs"), Path("another")]}
    hunter = hunter_of()
    hunt = hunter.go_on(60)
    assert (hunt.catch.seed, hunt.catch.phase, hunt.catch.verdict) == ("b.py", "guards", "wrong-result")
    assert runs.made == [("a", "eager"), ("b", "eager")]
    assert hunt.cells == 2
    assert hunter.folder == Path("theirs")


def test_all_phases_are_run_where_nothing_is_found_and_nothing_twice(hunter_of, runs, tmp_path):
    hunter = hunter_of()
    assert not hunter.go_on(60).found
    told = [f"{config} {name}" for name, config in runs.made]
    assert told == [f"{config} {name}" for config in ("eager", "inductor", "inductor") for name in "abc"]
    assert hunter.record.costs == {str(tmp_path / f"{name}.py"): 2.0 for name in "abc"}
    hunter.go_on(60)
    assert len(runs.made) == 9


def test_the_second_go_runs_what_the_first_had_no_time_for(hunter_of, runs):
    hunter = hunter_of(most_cells=4)
    hunter.go_on(0)
    assert runs.made == []
    hunt = hunter.go_on(60)
    assert runs.made == [("a", "eager"), ("a", "inductor"), ("b", "inductor"), ("c", "inductor")]
    assert hunt.cells == 4
    assert hunt.seconds > 0


def test_torch_s_own_defects_are_passed_over_and_not_met_again(hunter_of, runs, tmp_path):
    runs.shows = {"a": [Path("own-1")], "b": [Path("own-2")]}
    hunter = hunter_of()
    hunt = hunter.go_on(60)
    assert not hunt.found
    assert hunt.passed_over == 6
    assert {Path(path).stem for (_, path), quiet in hunter.record.quiet.items() if quiet} == {"c"}
    runs.made.clear()
    hunter_of(clean=hunter.record, out=tmp_path / "again").go_on(60)
    assert {name for name, _ in runs.made} == {"c"}


def test_where_nothing_was_wrong_without_the_fault_a_finding_is_the_fault_s(hunter_of, runs, tmp_path):
    runs.shows = {"a": [Path("own-as-it-seems")]}
    hunter = hunter_of(clean=Record(quiet={("guards", str(tmp_path / "a.py")): True}))
    assert hunter.go_on(60).found


@pytest.fixture
def of_a_clean_run(tmp_path):
    """Line 3 of ops.py runs where c is compiled; where b is, is not known. Each has shown two cells."""
    places = {name: ("programs", str(tmp_path / f"{name}.py")) for name in "abc"}
    lines = {places["a"]: {"ops.py": f"{1 << 2:x}"}, places["c"]: {"ops.py": f"{1 << 3 | 1 << 9:x}"}}
    return Record(quiet=dict.fromkeys(places.values(), True), cells=Counter(places.values()), lines=lines)


REPLACED = Replaced({"ops.py": frozenset({3, 4}), "never.py": frozenset({1})})


def test_first_come_the_programs_that_run_what_the_fault_replaces(hunter_of, runs, of_a_clean_run):
    hunter_of(clean=of_a_clean_run, replaced=REPLACED).go_on(60)
    compiled = [name for name, config in runs.made if config == "inductor"]
    assert compiled[0] == "c"
    assert compiled.index("b") < compiled.index("a")
    assert len(runs.made) == 9


def test_a_fault_in_dynamo_is_hunted_longer_where_only_dynamo_runs(hunter_of, of_a_clean_run, tmp_path):
    guards = PHASES[0]
    assert hunter_of(clean=of_a_clean_run, replaced=REPLACED)._share(guards) == guards.share
    of_a_clean_run.lines["guards", str(tmp_path / "a.py")] = {"ops.py": f"{1 << 4:x}"}
    longer = hunter_of(clean=of_a_clean_run, replaced=REPLACED, out=tmp_path / "more")
    assert longer._share(guards) > guards.share
    assert longer._share(PHASES[1]) == PHASES[1].share


def test_what_was_not_run_again_before_the_find_is_counted(hunter_of, runs, of_a_clean_run):
    runs.shows = {"c": [Path("theirs")]}
    of_a_clean_run.cells.update(of_a_clean_run.cells)
    hunt = hunter_of(clean=of_a_clean_run, replaced=REPLACED).go_on(60)
    assert (hunt.catch.phase, hunt.cells, hunt.spared) == ("programs", 1, 4)


def test_a_limit_of_cells_is_that_of_a_hunt_that_spares_nothing(hunter_of, runs, of_a_clean_run, tmp_path):
    """Of five cells one goes to guards, and two programs of two cells each leave nothing for the third; of seven do."""
    runs.shows = {"c": [Path("theirs")]}
    of_a_clean_run.cells.update(of_a_clean_run.cells)
    assert not hunter_of(clean=of_a_clean_run, replaced=REPLACED, most_cells=5).go_on(60).found
    assert hunter_of(clean=of_a_clean_run, replaced=REPLACED, most_cells=7, out=tmp_path / "more").go_on(60).found


def test_a_process_that_does_not_start_ends_the_go(hunter_of, runs):
    runs.shows = {"a": RunnerFailed("it breaks the compiler at once")}
    hunt = hunter_of().go_on(60)
    assert (hunt.found, hunt.error) == (False, "it breaks the compiler at once")
    assert runs.made == [("a", "eager")]


def test_what_a_clean_run_has_seen_is_kept_for_the_same_programs(hunter_of, of_a_clean_run, tmp_path):
    entries = [Entry(tmp_path / f"{name}.py") for name in "abc"]
    clean = hunter_of()
    of_a_clean_run.costs[str(entries[1].path)] = 2.5
    clean.record = of_a_clean_run
    clean.hunt = Hunt(None, None, 7, 12.5, 2)
    journal = tmp_path / "journal.jsonl"
    CleanRun(journal, entries, [REPLACED]).keep(clean)
    again = hunter_of(out=tmp_path / "again")
    assert CleanRun(journal, entries, [REPLACED]).restore(again)
    assert again.hunt == clean.hunt
    assert (again.record.quiet, again.record.cells) == (clean.record.quiet, clean.record.cells)
    assert again.record.costs == clean.record.costs
    assert again.record.lines["programs", str(entries[2].path)] == {"ops.py": f"{1 << 3:x}"}, "line 9 is nobody's"
    other = hunter_of(out=tmp_path / "other")
    assert not CleanRun(journal, entries[:2], [REPLACED]).restore(other)
    entries[0].path.write_text("x = 2\n")
    assert not CleanRun(journal, entries, [REPLACED]).restore(other)
    assert not CleanRun(None, entries, [REPLACED]).restore(other)
