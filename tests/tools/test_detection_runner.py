"""A detection run: which programs run in which attempt, and when it ends."""

import re
import types
from collections import Counter
from pathlib import Path

import pytest

from eqfuzz.events.run import CellJudged, FindingReported, SeedDone
from eqfuzz.generate.catalogues.messages import WrittenResult
from eqfuzz.generate.catalogues.programs import CatalogueProgram, NamedResult
from eqfuzz.oracle.compare.verdict import Verdict, VerdictKind
from eqfuzz.run.protocol import RunnerFailed
from eqfuzz.triage.confirm.cell import Cell
from tools.fault_detection.corpus.corpus import Entry
from tools.fault_detection.detection import runner as module
from tools.fault_detection.detection.clean_run import CleanRunFile
from tools.fault_detection.detection.phases import PHASES
from tools.fault_detection.detection.reach import ReplacedLines
from tools.fault_detection.detection.result import DetectionResult
from tools.fault_detection.detection.runner import DetectionRunner, Observations
from tools.fault_detection.fault import read_faults


class SeedRuns:
    """Replaces SeedRun: records runs, and emits findings in the folders that ``findings`` has for a program."""

    def __init__(self):
        self.runs = []
        self.findings = {}

    def __call__(self, *, path, settings, emit, **_):
        def run():
            config = settings.configs[0].name
            self.runs.append((path.stem, config))
            folders = self.findings.get(path.stem, ())
            if isinstance(folders, Exception):
                raise folders
            verdict = Verdict(VerdictKind.WRONG_RESULT if folders else VerdictKind.AGREE, "so it is")
            emit(
                CellJudged(
                    index=0,
                    seed=str(path),
                    variant=0,
                    rules=[],
                    device="cpu",
                    config=config,
                    verdict=verdict,
                    seconds=1.0,
                )
            )
            for folder in folders:
                finding = types.SimpleNamespace(verdict=verdict, config=config, stage="")
                emit(FindingReported(index=0, finding=finding, folder=str(folder), known=False))
            emit(SeedDone(index=0, seed=str(path), seconds=1.0, cpu_seconds=3.0, timings={"g++": 1.0}))

        return types.SimpleNamespace(run=run)


class NamedTorchDefects:
    """Replaces TorchDefects: findings in folders named ``torch-…`` are torch's own."""

    def includes(self, finding):
        return finding.name.startswith("torch")


@pytest.fixture
def seed_runs(monkeypatch):
    seed_runs = SeedRuns()
    monkeypatch.setattr(module, "SeedRun", seed_runs)
    return seed_runs


@pytest.fixture
def without_graphs(monkeypatch):
    monkeypatch.setattr(module, "PHASES", tuple(phase for phase in PHASES if not phase.graphs_first))


@pytest.fixture
def new_runner(tmp_path, seed_runs, without_graphs):
    entries = [Entry(tmp_path / f"{name}.py") for name in ("a", "b", "c")]
    for entry in entries:
        entry.path.write_text("x = 1\n")

    def make(out=tmp_path / "out", **options):
        return DetectionRunner(read_faults()[0], entries, 0, NamedTorchDefects(), out, tmp_path / "kernels", **options)

    return make


def test_first_detection_ends_the_run(new_runner, seed_runs):
    seed_runs.findings = {"b": [Path("fault-1"), Path("fault-2")]}
    runner = new_runner()
    result = runner.attempt(60)
    assert (result.detection.seed, result.detection.phase, result.detection.verdict) == (
        "b.py",
        "guards",
        "wrong-result",
    )
    assert seed_runs.runs == [("a", "eager"), ("b", "eager")]
    assert result.cells == 2
    assert runner.folder == Path("fault-1")


def test_without_detection_every_phase_runs_every_program_once(new_runner, seed_runs, tmp_path):
    runner = new_runner()
    assert not runner.attempt(60).is_detected
    order = [f"{config} {name}" for name, config in seed_runs.runs]
    assert order == [f"{config} {name}" for config in ("eager", "inductor", "inductor") for name in "abc"]
    assert runner.observations.costs == {str(tmp_path / f"{name}.py"): 2.0 for name in "abc"}
    runner.attempt(60)
    assert len(seed_runs.runs) == 9


def test_second_attempt_runs_remaining_programs(new_runner, seed_runs):
    runner = new_runner(most_cells=4)
    runner.attempt(0)
    assert seed_runs.runs == []
    result = runner.attempt(60)
    assert seed_runs.runs == [("a", "eager"), ("a", "inductor"), ("b", "inductor"), ("c", "inductor")]
    assert result.cells == 4
    assert result.seconds > 0


def test_programs_with_torch_defects_are_passed_over_and_left_out_later(new_runner, seed_runs, tmp_path):
    seed_runs.findings = {"a": [Path("torch-1")], "b": [Path("torch-2")]}
    runner = new_runner()
    result = runner.attempt(60)
    assert not result.is_detected
    assert result.passed_over == 6
    assert {Path(path).stem for (_, path), quiet in runner.observations.quiet.items() if quiet} == {"c"}
    seed_runs.runs.clear()
    new_runner(clean=runner.observations, out=tmp_path / "again").attempt(60)
    assert {name for name, _ in seed_runs.runs} == {"c"}


def test_finding_in_a_program_quiet_without_the_fault_is_a_detection(new_runner, seed_runs, tmp_path):
    seed_runs.findings = {"a": [Path("torch-1")]}
    runner = new_runner(clean=Observations(quiet={("guards", str(tmp_path / "a.py")): True}))
    assert runner.attempt(60).is_detected


@pytest.fixture
def clean_observations(tmp_path):
    """Line 3 of ops.py runs when c is compiled, not when a is; for b that is unknown. Each has one cell."""
    places = {name: ("programs", str(tmp_path / f"{name}.py")) for name in "abc"}
    lines = {places["a"]: {"ops.py": f"{1 << 2:x}"}, places["c"]: {"ops.py": f"{1 << 3 | 1 << 9:x}"}}
    return Observations(quiet=dict.fromkeys(places.values(), True), cells=Counter(places.values()), lines=lines)


REPLACED = ReplacedLines({"ops.py": frozenset({3, 4}), "never.py": frozenset({1})})


def test_programs_that_run_replaced_lines_come_first(new_runner, seed_runs, clean_observations):
    new_runner(clean=clean_observations, replaced=REPLACED).attempt(60)
    compiled = [name for name, config in seed_runs.runs if config == "inductor"]
    assert compiled[0] == "c"
    assert compiled.index("b") < compiled.index("a")
    assert len(seed_runs.runs) == 9


def test_phase_for_guards_gets_more_time_for_a_fault_in_dynamo(new_runner, clean_observations, tmp_path):
    guards = PHASES[0]
    assert new_runner(clean=clean_observations, replaced=REPLACED)._share(guards) == guards.share
    clean_observations.lines["guards", str(tmp_path / "a.py")] = {"ops.py": f"{1 << 4:x}"}
    longer = new_runner(clean=clean_observations, replaced=REPLACED, out=tmp_path / "more")
    assert longer._share(guards) > guards.share
    programs = next(phase for phase in PHASES if phase.name == "programs")
    assert longer._share(programs) == programs.share


def test_cells_skipped_before_the_detection_are_counted_as_spared(new_runner, seed_runs, clean_observations):
    seed_runs.findings = {"c": [Path("fault-1")]}
    clean_observations.cells.update(clean_observations.cells)
    result = new_runner(clean=clean_observations, replaced=REPLACED).attempt(60)
    assert (result.detection.phase, result.cells, result.spared) == ("programs", 1, 4)


def test_limit_of_cells_includes_spared_cells(new_runner, seed_runs, clean_observations, tmp_path):
    """Of five cells one is for guards and four for two programs; of seven the third program is within the limit."""
    seed_runs.findings = {"c": [Path("fault-1")]}
    clean_observations.cells.update(clean_observations.cells)
    assert not new_runner(clean=clean_observations, replaced=REPLACED, most_cells=5).attempt(60).is_detected
    larger = new_runner(clean=clean_observations, replaced=REPLACED, most_cells=7, out=tmp_path / "more")
    assert larger.attempt(60).is_detected


def test_process_that_does_not_start_ends_the_attempt(new_runner, seed_runs):
    seed_runs.findings = {"a": RunnerFailed("it breaks the compiler at once")}
    result = new_runner().attempt(60)
    assert (result.is_detected, result.error) == (False, "it breaks the compiler at once")
    assert seed_runs.runs == [("a", "eager")]


def test_clean_run_is_restored_for_the_same_programs_only(new_runner, clean_observations, tmp_path):
    entries = [Entry(tmp_path / f"{name}.py") for name in "abc"]
    clean = new_runner()
    clean_observations.costs[str(entries[1].path)] = 2.5
    clean.observations = clean_observations
    clean.result = DetectionResult(None, None, 7, 12.5, 2)
    journal = tmp_path / "journal.jsonl"
    CleanRunFile(journal, entries, [REPLACED]).save(clean)
    restored = new_runner(out=tmp_path / "again")
    assert CleanRunFile(journal, entries, [REPLACED]).restore(restored)
    assert restored.result == clean.result
    assert restored.observations.quiet == clean.observations.quiet
    assert restored.observations.cells == clean.observations.cells
    assert restored.observations.costs == clean.observations.costs
    assert restored.observations.lines["programs", str(entries[2].path)] == {"ops.py": f"{1 << 3:x}"}
    other = new_runner(out=tmp_path / "other")
    assert not CleanRunFile(journal, entries[:2], [REPLACED]).restore(other)
    entries[0].path.write_text("x = 2\n")
    assert not CleanRunFile(journal, entries, [REPLACED]).restore(other)
    assert not CleanRunFile(None, entries, [REPLACED]).restore(other)


class JudgedApart:
    """Replaces SeedRun for a program of three results, of which torch has the second wrong.

    ``texts`` are those that ran, ``planted`` the numbers of results that a fault makes wrong among the others.
    """

    def __init__(self):
        self.texts = []
        self.planted = []

    def __call__(self, *, emit, path, text, results, settings, **_):
        verdict = Verdict(VerdictKind.WRONG_RESULT, "so it is")
        is_whole = len(results) == 3
        different = [1] if is_whole else self.planted if settings.compiling.preload is not None else []
        apart = tuple((number, verdict) for number in different)

        def judge():
            assert results in [((0,), (1,), (2,)), ((0,), (2,))]

        def run():
            assert results == ()
            self.texts.append(text)
            emit(SeedDone(index=0, seed=str(path), seconds=1.0, cpu_seconds=3.0, timings={}))

        return types.SimpleNamespace(
            judge=judge,
            run=run,
            cells={
                0: Cell(0, "cpu", "inductor", verdict if apart else Verdict(VerdictKind.AGREE, ""), 0.0, apart=apart)
            },
            cpu_seconds=3.0,
            timings={"g++": 1.0},
            covered_lines=lambda: {"ops.py": "8"},
        )


def test_results_that_differ_under_a_fault_only_run_alone_then_together(tmp_path, monkeypatch, without_graphs):
    runs = JudgedApart()
    monkeypatch.setattr(module, "SeedRun", runs)
    results = tuple(
        NamedResult(
            "op", "float32", WrittenResult(sample=n, expression=f"op{n}(${{x}})", inputs=(("x", "rng.normal()"),))
        )
        for n in (1, 2, 3)
    )
    entry = Entry(tmp_path / "a.py", program=CatalogueProgram("a.py", results, 0))

    def runner(fault, out, clean=None):
        return DetectionRunner(fault, [entry], 0, NamedTorchDefects(), tmp_path / out, tmp_path / "kernels", clean)

    clean = runner(None, "clean")
    clean.attempt(60)
    assert clean.observations.dropped == {str(entry.path): [1]}
    assert clean.observations.quiet == {("programs", str(entry.path)): True}
    assert clean.observations.costs == {str(entry.path): 2.0}
    runner(read_faults()[0], "silent", clean.observations).attempt(60)
    assert runs.texts == []
    runs.planted = [1]
    runner(read_faults()[0], "planted", clean.observations).attempt(60)
    assert [re.findall(r"op\d", text.partition("return")[2]) for text in runs.texts] == [["op3"], ["op1", "op3"]]
