"""Regressions between two torches, from workers and scripts that only say what came of each program."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, ClassVar

import pytest

from eqfuzz.commands.regressions import compare_torches as compared
from eqfuzz.commands.regressions import torch_side
from eqfuzz.commands.regressions.compare_torches import DiffRequest, compare_torches, programs_in
from eqfuzz.commands.regressions.worker import WorkerJob
from eqfuzz.errors import UsageError
from eqfuzz.events.event import Event
from eqfuzz.events.regressions import BucketCompared, BucketState, DiffStarted, DiffSummary, ProgramCompared
from eqfuzz.program.provenance import Provenance
from eqfuzz.program.release import Release
from eqfuzz.triage.confirm.replay import ERROR, FIXED, STILL_FAILING, ReplayOutcome
from eqfuzz.triage.findings.buckets import bucket_id
from eqfuzz.triage.findings.folder import write_folder
from eqfuzz.triage.reproducer.script_files import ReproducerScript
from tests.unit.triage.findings import finding_of

BASE, HEAD = Release("2.13.0", "cpu"), Release("2.15.0", "cpu")
PYTHONS = {"base": BASE, "head": HEAD}
SEED = "def program(x):\n    return x\n\n\ndef inputs(rng):\n    yield rng.normal(3)\n"
SCRIPT = '"""The sum of nothing."""\n\nimport sys\n\nsys.exit(1)\n'


class ScriptedTorches:
    """What the workers and scripts of both torches say; ``runs`` are the seeds and scripts that were run."""

    runs: ClassVar[list[tuple[str, str]]] = []
    differs: ClassVar[dict[str, set[str]]] = {}
    """Stems of the seeds that each side has a finding for; its fingerprint is the stem."""
    shows: ClassVar[dict[str, set[str]]] = {}
    """Fingerprints, and stems of scripts, that each side still shows."""
    broken: ClassVar[set[str]] = set()
    """Sides on which every script breaks down."""
    lines: ClassVar[dict[str, dict[str, str]]] = {}
    invalid: ClassVar[set[str]] = set()

    @classmethod
    def events(cls, side: torch_side.TorchSide, job: WorkerJob) -> list[dict[str, Any]]:
        events: list[dict[str, Any]] = []
        for index, seed in enumerate(job.paths):
            stem = seed.stem
            cls.runs.append((side.name, stem))
            if stem in cls.invalid:
                events.append({"event": "invalid", "index": index, "seed": str(seed), "reason": "raises in eager"})
            elif stem in cls.differs.get(side.name, ()):
                finding = finding_of(fingerprint=stem, source=f"{SEED}# {stem}\n")
                write_folder(job.out / "findings", finding, ReproducerScript(f"# {stem}\n"), None)
                events.append({"event": "finding", "index": index, "id": finding.id, "kept": True})
                events.append(
                    {"event": "cell", "index": index, "config": "inductor", "verdict": {"kind": "wrong-result"}}
                )
            else:
                events.append({"event": "cell", "index": index, "config": "inductor", "verdict": {"kind": "agree"}})
            if job.traced and stem in cls.lines:
                events.append({"event": "lines", "index": index, "files": cls.lines[stem]})
            events.append({"event": "done", "index": index, "seed": str(seed)})
        return [*events, {"event": "summary", "errors": []}]

    @classmethod
    def outcome(cls, script: Path, python: str, **_: Any) -> ReplayOutcome:
        name = script.read_text().splitlines()[0].removeprefix("# ") if script.name == "repro.py" else script.stem
        cls.runs.append((python, f"script {name}"))
        if python in cls.broken:
            return ReplayOutcome(ERROR, "", "its script raises ImportError")
        return ReplayOutcome(
            STILL_FAILING if name in cls.shows.get(python, ()) else FIXED,
            "W1127 19:40:18 a.py:1] no CUDA\neager: 1\ncompiled: 2",
        )


@pytest.fixture(autouse=True)
def torches(monkeypatch: pytest.MonkeyPatch) -> type[ScriptedTorches]:
    for name, empty in (
        ("runs", []),
        ("differs", {}),
        ("shows", {}),
        ("broken", set()),
        ("lines", {}),
        ("invalid", set()),
    ):
        setattr(ScriptedTorches, name, empty)
    monkeypatch.setattr(torch_side.TorchSide, "_events", lambda side, job: ScriptedTorches.events(side, job))
    monkeypatch.setattr(torch_side.TorchSide, "require_eqfuzz", lambda side: None)
    monkeypatch.setattr(torch_side, "run_script", ScriptedTorches.outcome)
    return ScriptedTorches


@pytest.fixture
def diff(tmp_path: Path):
    """Compares the programs of a folder; returns the events."""
    programs = tmp_path / "programs"
    programs.mkdir()

    def run(*seeds: str, scripts: tuple[str, ...] = (), **changed: Any) -> list[Event]:
        for seed in seeds:
            (programs / f"{seed}.py").write_text(SEED)
        for script in scripts:
            (programs / f"{script}.py").write_text(SCRIPT)
        job = WorkerJob(
            out=tmp_path / "out",
            paths=[],
            seed=0,
            jobs=1,
            time=changed.pop("time", None),
            timeout=90,
            configs=[{"name": "inductor"}],
            devices=["cpu"],
            checks=[],
        )
        events: list[Event] = []
        request = DiffRequest(("base", BASE), ("head", HEAD), (programs,), job, changed.pop("changes", {}), **changed)
        compare_torches(request, events.append)
        return events

    return run


def buckets(events: list[Event]) -> dict[str, BucketState]:
    return {event.title: event.state for event in events if isinstance(event, BucketCompared)}


def test_scripts_on_both_decide_what_became_of_a_bucket(diff, torches):
    torches.differs = {"base": {"gone", "same", "luck"}, "head": {"worse", "same"}}
    torches.shows = {"base": {"gone", "same"}, "head": {"worse", "same"}}
    events = diff("gone", "same", "worse", "luck", "fine")
    assert buckets(events) == {
        "gone": BucketState.FIXED,
        "same": BucketState.STILL,
        "worse": BucketState.NEW,
        "luck": BucketState.UNCLEAR,
    }
    summary = events[-1]
    assert isinstance(summary, DiffSummary)
    assert (summary.new, summary.programs, summary.not_tried) == (1, 5, [])
    assert summary.outcomes == {"differs → agree": 2, "agree → differs": 1}
    scripts = {(side, name) for side, name in torches.runs if name.startswith("script")}
    assert scripts == {(side, f"script {name}") for side in ("base", "head") for name in ("gone", "worse", "luck")}


def test_bucket_that_only_one_run_has_is_no_regression_where_its_script_fails_on_both(diff, torches):
    torches.differs, torches.shows = {"head": {"a"}}, {"base": {"a"}, "head": {"a"}}
    events = diff("a")
    assert buckets(events) == {"a": BucketState.STILL}
    assert events[-1].new == 0


def test_script_that_breaks_down_decides_nothing(diff, torches):
    torches.differs, torches.shows, torches.broken = {"head": {"a"}}, {"head": {"a"}}, {"base"}
    [bucket] = [event for event in diff("a") if isinstance(event, BucketCompared)]
    assert (bucket.state, bucket.cause) == (BucketState.UNCLEAR, "base: its script raises ImportError")


def test_script_that_broke_down_runs_again(diff, torches):
    torches.shows, torches.broken = {"head": {"s"}}, {"base"}
    assert buckets(diff(scripts=("s",))) == {"The sum of nothing.": BucketState.UNCLEAR}
    torches.broken, torches.runs = set(), []
    assert buckets(diff()) == {"The sum of nothing.": BucketState.NEW}
    assert torches.runs == [("base", "script s")]


def test_two_builds_of_one_release_have_results_of_their_own(diff, torches, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "BASE", HEAD)
    torches.differs, torches.shows = {"head": {"a"}}, {"head": {"a"}}
    assert buckets(diff("a")) == {"a": BucketState.NEW}
    assert torches.runs[:2] == [("base", "a"), ("head", "a")]


def test_known_issue_is_no_regression(diff, torches, tmp_path):
    issues = tmp_path / "known.toml"
    issues.write_text('[[issue]]\nurl = "https://example.org/1"\nadded = 2026-01-01\nfingerprint = "a"\n')
    torches.differs, torches.shows = {"head": {"a"}}, {"head": {"a"}}
    *_, bucket, summary = diff("a", known_issues=(issues,))
    assert (bucket.state, bucket.issue, bucket.is_new, summary.new) == (
        BucketState.NEW,
        "https://example.org/1",
        False,
        0,
    )


def test_stand_alone_scripts_are_programs(diff, torches):
    torches.shows = {"head": {"sum"}}
    events = diff("a", scripts=("sum", "fine"))
    started = events[0]
    assert isinstance(started, DiffStarted)
    assert (started.seeds, started.scripts) == (1, 2)
    [bucket] = [event for event in events if isinstance(event, BucketCompared)]
    assert (bucket.bucket, bucket.title, bucket.state, bucket.kind) == (
        "sum",
        "The sum of nothing.",
        BucketState.NEW,
        "script",
    )
    assert bucket.message == "eager: 1 compiled: 2"
    assert events[-1].programs == 3


def test_an_equal_call_runs_nothing_again_and_says_the_same(diff, torches):
    torches.differs, torches.shows = {"head": {"a"}}, {"head": {"a", "s"}}
    first = diff("a", "b", scripts=("s",))
    torches.runs = []
    again = diff()
    assert torches.runs == []
    events = [event.to_json() for event in again[1:-1]]
    assert events == [event.to_json() for event in first[1:-1]]


def test_seed_that_was_edited_runs_again(diff, torches, tmp_path):
    diff("a", "b")
    torches.runs = []
    (tmp_path / "programs" / "a.py").write_text(SEED + "# edited\n")
    diff()
    assert torches.runs == [("base", "a"), ("head", "a")]


def test_finding_whose_folder_is_gone_is_made_again(diff, torches, tmp_path):
    torches.differs, torches.shows = {"head": {"a"}}, {"head": {"a"}}
    diff("a")
    for folder in (tmp_path / "out" / "2.15.0-cpu" / "findings").iterdir():
        folder.rename(tmp_path / folder.name)
    torches.runs = []
    assert buckets(diff()) == {"a": BucketState.NEW}
    assert torches.runs == [("head", "a")]


def test_programs_that_run_changed_lines_come_first(diff, torches):
    torches.lines = {"c": {"_inductor/ir.py": f"{1 << 10:x}"}}
    first = diff("a", "b", "c", changes={"_inductor/ir.py": 1 << 10})
    assert [event.program[-4] for event in first if isinstance(event, ProgramCompared)] == ["a", "b", "c"]
    assert (first[0].first, first[0].untraced) == (0, 3)
    again = diff(changes={"_inductor/ir.py": 1 << 10})
    assert [event.program[-4] for event in again if isinstance(event, ProgramCompared)] == ["c", "a", "b"]
    assert (again[0].first, again[0].untraced) == (1, 2)


def test_out_of_time_names_what_was_not_tried(diff, torches):
    summary = diff("a", "b", scripts=("s",), time=0.0)[-1]
    assert summary.out_of_time
    assert [Path(name).stem for name in summary.not_tried] == ["a", "b", "s"]
    assert torches.runs == []


def test_invalid_seeds_cannot_be_compared(diff, torches):
    torches.invalid = {"a"}
    summary = diff("a", "b")[-1]
    assert {Path(name).stem: reason for name, reason in summary.invalid.items()} == {"a": "head: raises in eager"}


def test_run_that_breaks_down_is_an_error(diff, monkeypatch):
    def fail(side: torch_side.TorchSide, job: WorkerJob) -> list[Any]:
        raise torch_side.WorkerFailed(f"{side.name}: no torch")

    monkeypatch.setattr(torch_side.TorchSide, "_events", fail)
    summary = diff("a")[-1]
    assert summary.errors == ["base: no torch"]
    assert not summary.out_of_time


def test_ctrl_c_ends_with_a_summary(diff, monkeypatch):
    def interrupt(side: torch_side.TorchSide, job: WorkerJob) -> list[Any]:
        raise KeyboardInterrupt

    monkeypatch.setattr(torch_side.TorchSide, "_events", interrupt)
    summary = diff("a")[-1]
    assert summary.interrupted
    assert len(summary.not_tried) == 1


def test_untrusted_file_is_no_script(tmp_path):
    provenance = Provenance("llm")
    (tmp_path / "s.py").write_text(provenance.header() + SCRIPT)
    assert programs_in([tmp_path])[1] == []


def test_what_is_neither_seed_nor_script_counts_as_a_seed(tmp_path):
    (tmp_path / "s.py").write_text(SCRIPT)
    (tmp_path / "p.py").write_text(SEED)
    (tmp_path / "x.py").write_text("x = 1\n")
    seeds, scripts = programs_in([tmp_path])
    assert {seed.name for seed in seeds} == {"p.py", "x.py"}
    assert [script.name for script in scripts] == ["s.py"]


def test_shipped_scripts_of_defects_are_scripts():
    folder = Path(__file__).parents[3] / "docs" / "findings"
    seeds, scripts = programs_in([folder])
    assert seeds == []
    assert len(scripts) == len(list(folder.glob("*.py")))


def test_interpreter_without_eqfuzz_is_refused_before_anything_runs(tmp_path, monkeypatch):
    monkeypatch.undo()
    empty = tmp_path / "python"
    empty.write_text("#!/bin/sh\necho libcst pydantic\n")
    empty.chmod(0o755)
    (tmp_path / "a.py").write_text(SEED)
    job = WorkerJob(
        out=tmp_path / "o", paths=[], seed=0, jobs=1, time=None, timeout=9, configs=[], devices=[], checks=[]
    )
    request = DiffRequest((str(empty), BASE), (sys.executable, HEAD), (tmp_path / "a.py",), job, {})
    with pytest.raises(UsageError, match="cannot run seeds without libcst, pydantic: install eqfuzz there"):
        compare_torches(request, lambda event: None)


def test_worker_finds_this_eqfuzz_and_no_torch_beside_it(tmp_path):
    job = WorkerJob(
        out=tmp_path / "o", paths=[], seed=0, jobs=1, time=None, timeout=9, configs=[], devices=[], checks=[]
    )
    side = torch_side.TorchSide("base", sys.executable, BASE, job, compared.Journal(tmp_path / "j"), HEAD)
    folder = Path(side._environment()["PYTHONPATH"])
    assert [path.name for path in folder.iterdir()] == ["eqfuzz"]
    assert (folder / "eqfuzz").resolve() == Path(torch_side.eqfuzz.__file__).parent.resolve()


def test_event_of_a_bucket_is_plain_json(diff, torches):
    torches.differs, torches.shows = {"head": {"a"}}, {"head": {"a"}}
    [bucket] = [event for event in diff("a") if isinstance(event, BucketCompared)]
    data = json.loads(json.dumps(bucket.to_json()))
    assert (data["event"], data["bucket"], data["state"], data["severity"]) == (
        "bucket",
        bucket_id("a"),
        "new",
        "wrong-values",
    )
