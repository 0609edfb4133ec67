"""A sweep over results of programs: which of them is judged how, and what is confirmed. Nothing is compiled here."""

import dataclasses
import datetime
import json
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

from eqfuzz.commands import sweep
from eqfuzz.commands.read_catalogue import CatalogueRequest
from eqfuzz.commands.sweep import sweep_catalogue
from eqfuzz.commands.sweep_matrix import JudgedSample
from eqfuzz.events.catalogue import ProgramSwept, SweepStarted, SweepSummary
from eqfuzz.events.event import Event, Handler
from eqfuzz.events.run import CellJudged, FindingReported
from eqfuzz.generate.catalogues.messages import SamplesWritten, WrittenResult
from eqfuzz.generate.catalogues.programs import CatalogueProgram, programs_of
from eqfuzz.mutate.parallel import Ending
from eqfuzz.mutate.settings import CompileSettings, DeviceName, Settings
from eqfuzz.oracle.compare.single_result import ResultPlaces
from eqfuzz.oracle.compare.verdict import Verdict, VerdictKind
from eqfuzz.program.program import InvalidSeed
from eqfuzz.triage.confirm.cell import Cell
from eqfuzz.triage.findings.buckets import bucket_id
from eqfuzz.triage.findings.folder import write_folder
from eqfuzz.triage.reproducer.script_files import ReproducerScript
from tests.unit.triage.findings import finding_of

AGREE = Verdict(VerdictKind.AGREE, "they agree")
KINDS = {
    "wrong": VerdictKind.WRONG_RESULT,
    "beside": VerdictKind.WRONG_RESULT,
    "doubtful": VerdictKind.INCONCLUSIVE,
    "crash": VerdictKind.COMPILER_CRASH,
    "refused": VerdictKind.UNSUPPORTED,
    "slow": VerdictKind.HANG,
}
WHOLE = ("crash", "refused", "slow")
"""What is said about a program as a whole."""


class ScriptedRun:
    """Runs a program as its operators' names say; ``runs`` are the operators of each program that was compiled."""

    runs: ClassVar[list[tuple[str, ...]]] = []

    def __init__(self, text: str, collect: Handler, results: tuple[ResultPlaces, ...]) -> None:
        lines = [line.strip() for line in text.splitlines()]
        self.operators = tuple(line.removeprefix("torch.").split("(")[0] for line in lines if line.startswith("torch."))
        self.cpu_seconds = 1.0
        self.cells: dict[tuple[int, str, str], Cell] = {}
        self._collect = collect
        self._results = results

    def judge(self) -> None:
        ScriptedRun.runs.append(self.operators)
        assert len(self._results) == len(self.operators)
        if "invalid" in self.operators:
            raise InvalidSeed("a seed", "raises in eager")
        apart = tuple((n, self._verdict(name)) for n, name in enumerate(self.operators) if name in KINDS)
        whole = next((self._verdict(name) for name in self.operators if name in WHOLE), None)
        verdict = whole or (apart[0][1] if apart else AGREE)
        self.cells = {(0, "cpu", "inductor"): Cell(0, "cpu", "inductor", verdict, 0.0, apart=() if whole else apart)}

    def run(self) -> None:
        assert not self._results
        ScriptedRun.runs.append(("confirm", *self.operators))
        differing = [name for name in self.operators if name in ("wrong", "crash")]
        differing += ["beside"] if "beside" in self.operators and len(self.operators) > 1 else []
        if not differing:
            cell = Cell(0, "cpu", "inductor", AGREE, 0.0)
            self._collect(CellJudged.of(0, "a seed", cell, []))
            return
        issue = "https://example.org/1" if differing[0] == "crash" else ""
        self._collect(FindingReported(index=0, finding=finding_of(), folder="", known=False, issue=issue))

    def _verdict(self, operator: str) -> Verdict:
        return Verdict(KINDS[operator], f"call 0: {operator}")


class ScriptedRunner:
    def __init__(self, settings: Settings, rules: tuple[str, ...]) -> None:
        self.pool = SimpleNamespace(close=lambda: None)

    def __enter__(self) -> "ScriptedRunner":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def seed_run(self, index: int, path: Path, emit: Handler, stop: threading.Event, **more: Any) -> ScriptedRun:
        return ScriptedRun(more["text"], emit, more["results"])


def swept(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    *operators: str,
    devices: tuple[DeviceName, ...] = ("cpu",),
    draws: bool = False,
    known_issues: tuple[Path, ...] = (),
) -> tuple[SweepSummary, list[Event]]:
    """A sweep over a program with a result for each of these operators."""
    written = [
        SamplesWritten(
            operator=name,
            dtype="float32",
            samples=1,
            repeats=0,
            results=(
                WrittenResult(
                    sample=1, expression=f"torch.{name}(${{x}})", inputs=(("x", "rng.normal()"),), draws=draws
                ),
            ),
            left_out={},
        )
        for name in operators
    ]

    class ScriptedReading:
        def __init__(self, request: CatalogueRequest, handler: Handler) -> None:
            pass

        def run(self, deadline: float) -> Ending:
            return Ending.DONE

        def programs(self) -> list[CatalogueProgram]:
            return programs_of(written, 0)

        def summary(self, *_: Any, **__: Any) -> SimpleNamespace:
            return SimpleNamespace(
                samples=len(written), repeats=0, results=len(written), left_out={}, drawing=[], without_gradient=0
            )

    monkeypatch.setattr(sweep, "CatalogueReading", ScriptedReading)
    monkeypatch.setattr(sweep, "SeedRunner", ScriptedRunner)
    ScriptedRun.runs = []
    events: list[Event] = []
    settings = Settings(out=folder, compiling=CompileSettings(devices=devices), known_issues=known_issues)
    summary = sweep_catalogue(CatalogueRequest(folder), settings, events.append)
    return summary, events


def outcomes(folder: Path) -> dict[str, str]:
    """The outcome of each operator."""
    operators = json.loads((folder / "matrix.json").read_text())["operators"]
    return {name: next(iter(by_dtype["float32"])) for name, by_dtype in operators.items()}


def test_one_compilation_judges_every_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    swept(tmp_path, monkeypatch, "add", "doubtful", "mul")
    assert outcomes(tmp_path) == {"add": "agree", "doubtful": "not comparable", "mul": "agree"}
    assert ScriptedRun.runs == [("add", "doubtful", "mul"), ("doubtful",)]


def test_difference_is_confirmed_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    summary, _ = swept(tmp_path, monkeypatch, "add", "wrong")
    assert outcomes(tmp_path) == {"add": "agree", "wrong": "new"}
    assert ScriptedRun.runs[1:] == [("confirm", "wrong")]
    assert summary.findings == 1


def test_difference_beside_other_results_is_no_agreement(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    swept(tmp_path, monkeypatch, "add", "beside")
    assert outcomes(tmp_path)["beside"] == "new"
    assert ScriptedRun.runs[1:] == [("confirm", "beside"), ("confirm", "add", "beside")]


def test_draws_after_others_that_differ_have_their_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    swept(tmp_path, monkeypatch, "add", "wrong", "beside", draws=True)
    assert outcomes(tmp_path) == {"add": "agree", "wrong": "new", "beside": "new"}
    assert ScriptedRun.runs[1:] == [("confirm", "wrong"), ("confirm", "beside")]
    different = json.loads((tmp_path / "matrix.json").read_text())["different"]
    assert {one["finding"] for one in different} == {finding_of().id}


@pytest.mark.parametrize(
    ("operator", "outcome"), [("crash", "known"), ("refused", "unsupported"), ("invalid", "not comparable")]
)
def test_result_that_spoils_a_program_leaves_the_others_judged(
    operator: str, outcome: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    swept(tmp_path, monkeypatch, "add", "mul", operator, "sub", "div")
    assert outcomes(tmp_path) == {**dict.fromkeys(("add", "mul", "sub", "div"), "agree"), operator: outcome}


def test_program_that_takes_too_long_is_divided_into_many_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    names = [f"op{number}" for number in range(15)]
    swept(tmp_path, monkeypatch, *names, "slow")
    assert [run for run in ScriptedRun.runs if "slow" in run and run[0] != "confirm"] == [
        (*names, "slow"),
        (names[14], "slow"),
        ("slow",),
    ]


def test_programs_are_judged_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    first, _ = swept(tmp_path, monkeypatch, "add", "wrong")
    again, events = swept(tmp_path, monkeypatch, "add", "wrong")
    assert ScriptedRun.runs == []
    assert dataclasses.replace(again, seconds=0.0) == dataclasses.replace(first, seconds=0.0)
    (started,) = (event for event in events if isinstance(event, SweepStarted))
    assert (started.programs, started.earlier) == (1, 1)


def test_new_differences_are_named_with_their_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    _, events = swept(tmp_path, monkeypatch, "wrong")
    (program,) = (event for event in events if isinstance(event, ProgramSwept))
    assert program.different[0].startswith("wrong float32: torch.wrong(x): wrong-result: call 0: wrong [")
    different = json.loads((tmp_path / "matrix.json").read_text())["different"]
    assert JudgedSample.from_json(different[0]).finding == finding_of().id


def test_every_device_is_swept_and_the_page_says_when(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    swept(tmp_path, monkeypatch, "add", "wrong")
    assert "CUDA: not run: no device." in (tmp_path / "matrix.md").read_text()
    summary, events = swept(tmp_path, monkeypatch, "add", "wrong", devices=("cpu", "cuda"))
    (started,) = (event for event in events if isinstance(event, SweepStarted))
    assert (started.programs, started.earlier) == (2, 1)
    assert summary.outcomes == {"float32": {"new": 1, "agree": 1}, "float32, CUDA": {"new": 1, "agree": 1}}
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    assert f"CPU: run on {today}. CUDA: run on {today}." in (tmp_path / "matrix.md").read_text()
    again, _ = swept(tmp_path, monkeypatch, "add", "wrong")
    assert again.outcomes == summary.outcomes
    assert f"CUDA: not run: no device (last run on {today})." in (tmp_path / "matrix.md").read_text()


WRONG = Verdict(VerdictKind.WRONG_GRADIENT, "call 0: gradient of args[0]")


@pytest.mark.parametrize(
    ("alone", "expected"),
    [
        ([AGREE, WRONG, AGREE], [AGREE, WRONG, AGREE]),
        ([AGREE, AGREE, AGREE], [WRONG, AGREE, AGREE]),
    ],
    ids=["one result is wrong", "they are wrong together"],
)
def test_gradient_of_a_shared_tensor_is_blamed_on_one_result(
    alone: list[Verdict], expected: list[Verdict], monkeypatch: pytest.MonkeyPatch
):
    results = tuple(
        WrittenResult(sample=n, expression=f"${{x}}.sum({n})", inputs=(("x", "rng.normal(3)"),), shares=True)
        for n in range(3)
    )
    (program,) = programs_of(
        [SamplesWritten(operator="sum", dtype="float32", samples=3, repeats=0, results=results, left_out={})], seed=0
    )
    judging = sweep._ProgramJudging(None, None, "cpu", 0, threading.Event(), {}, Path())  # type: ignore[arg-type]
    parts = {program.part([n]).name: verdict for n, verdict in enumerate(alone)}
    monkeypatch.setattr(judging, "_verdicts", lambda part: [parts[part.name]])
    assert judging._with_own_tensors(program, [WRONG] * 3) == expected


def test_findings_of_earlier_calls_are_reported_before_the_summary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    write_folder(tmp_path / "findings", finding_of(fingerprint="values · amin"), ReproducerScript("pass", ""), None)
    for is_earlier in (False, True):
        _, events = swept(tmp_path, monkeypatch, "add", "wrong")
        *_, finding, summary = events
        assert isinstance(finding, FindingReported)
        assert isinstance(summary, SweepSummary)
        assert (finding.finding.id, finding.known, finding.bucket) == (
            finding_of().id,
            is_earlier,
            bucket_id("values · amin"),
        )


def test_finding_whose_folder_is_gone_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    _, events = swept(tmp_path, monkeypatch, "wrong")
    assert not [event for event in events if isinstance(event, FindingReported)]


def test_differences_of_earlier_calls_are_looked_up_in_the_list_of_today(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    write_folder(tmp_path / "findings", finding_of(fingerprint="values · amin"), ReproducerScript("pass", ""), None)
    listed = tmp_path / "issues.toml"
    entry = "[[issue]]\nurl = 'https://example.org/2'\nadded = 2026-11-28\nfingerprint = '{}'\n"
    for fingerprint, outcome in (("values · amax", "new"), ("values · amin", "known"), ("values · amax", "new")):
        listed.write_text(entry.format(fingerprint))
        swept(tmp_path, monkeypatch, "add", "wrong", known_issues=(listed,))
        assert outcomes(tmp_path) == {"add": "agree", "wrong": outcome}
    assert len([run for run in ScriptedRun.runs if "confirm" in run]) == 0


def test_page_does_not_name_the_folder_of_the_sweep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    words = f"does not reproduce ({tmp_path}/flaky/0123): call 0: beside"
    monkeypatch.setattr(ScriptedRun, "run", lambda run: run._collect(CellJudged.of(0, "a seed", flaky_cell(words), [])))
    swept(tmp_path, monkeypatch, "wrong")
    page = (tmp_path / "matrix.md").read_text(encoding="utf-8")
    assert "does not reproduce (flaky/0123)" in page
    assert str(tmp_path) not in page


def flaky_cell(words: str) -> Cell:
    return Cell(0, "cpu", "inductor", Verdict(VerdictKind.FLAKY, words), 0.0)
