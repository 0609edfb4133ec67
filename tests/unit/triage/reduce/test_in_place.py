"""What ``eqfuzz reduce`` leaves in a finding's folder; the shrinking itself, the children and scripts are imagined."""

from __future__ import annotations

import dataclasses
import json
import os
from pathlib import Path
from typing import Any

import pytest

from eqfuzz.program.formats import recognise
from eqfuzz.run.messages.finding_jobs import DescribeJob
from eqfuzz.triage.confirm import reproduction
from eqfuzz.triage.confirm.replay import FIXED, STILL_FAILING, ReplayOutcome
from eqfuzz.triage.findings.finding import Finding, ReductionResult
from eqfuzz.triage.findings.folder import read_finding, write_folder
from eqfuzz.triage.reduce import in_place
from eqfuzz.triage.reduce.finding_reducer import NotReduced, ReductionTry
from eqfuzz.triage.reduce.in_place import InPlaceReduction
from eqfuzz.triage.reproducer.script_files import ReproducerScript
from tests.unit.children import DESCRIBED, Children
from tests.unit.triage.findings import SOURCE, finding_of

SMALLER = SOURCE.replace("x + 1", "x")
TRIED = ReductionTry("program", 1, True)


class Run:
    """A finding in its folder, and what its reduction did. ``ends`` is raised by the shrinking after its first try."""

    def __init__(self, monkeypatch, out: Path, status: str, ends: Exception | None = None) -> None:
        self.finding = finding_of(settings={"name": "inductor"}, fingerprint="values · amin")
        self.folder = write_folder(out / "findings", self.finding, ReproducerScript("first script"), None)
        self.out = out
        self.tries: list[ReductionTry] = []
        self.known: list[dict[str, bool]] = []
        self.ends = ends
        run = self

        class Shrinking:
            def __init__(self, finding: Finding, pool: Any, *, report: Any, answers: dict[str, bool], **_: Any) -> None:
                self.finding, self.report, self.answers = finding, report, answers

            def smallest(self) -> Finding:
                run.known.append(dict(self.answers))
                self.answers["smaller"] = True
                self.report(TRIED)
                if run.ends is not None:
                    raise run.ends
                program = recognise(SMALLER, "seeds/some.py")
                reduced = ReductionResult((0, 0), (1, 1), (len(SOURCE), len(SMALLER)), 1)
                return dataclasses.replace(self.finding, original=program, transformed=program, reduced=reduced)

        monkeypatch.setattr(in_place, "pool_for", lambda *_, **__: Children({DescribeJob: [DESCRIBED]}))
        monkeypatch.setattr(in_place, "FindingReducer", Shrinking)
        monkeypatch.setattr(reproduction, "replay", lambda *_, **__: ReplayOutcome(status, "printed last"))

    def reduce(self) -> Finding:
        return InPlaceReduction(self.finding, self.folder, self.out, self.tries.append, seconds=1, jobs=1).run()


def test_reduced_finding_replaces_the_first(monkeypatch, tmp_path):
    run = Run(monkeypatch, tmp_path, STILL_FAILING)
    smaller = run.reduce()
    assert smaller.transformed.source == SMALLER
    assert run.tries == [TRIED]
    assert read_finding(run.folder).transformed.source == SMALLER
    assert (run.folder / "variant.py").read_text() == SMALLER
    assert "return x" in (run.folder / "repro.py").read_text()
    assert (run.folder / "unreduced" / "repro.py").read_text() == "first script"
    assert os.access(run.folder / "is_interesting", os.X_OK)
    assert not (run.folder / ".reduction.json").exists()


def test_reduction_without_reproducer_changes_nothing(monkeypatch, tmp_path):
    run = Run(monkeypatch, tmp_path, FIXED)
    with pytest.raises(NotReduced, match=r"does not reproduce in a fresh process \(FIXED: printed last\)"):
        run.reduce()
    assert (run.folder / "repro.py").read_text() == "first script"
    assert (run.folder / "variant.py").read_text() == SOURCE
    assert not (run.folder / "unreduced").exists()


def test_answers_are_reused_after_an_interrupt(monkeypatch, tmp_path):
    run = Run(monkeypatch, tmp_path, STILL_FAILING, RuntimeError("interrupted"))
    with pytest.raises(RuntimeError):
        run.reduce()
    assert json.loads((run.folder / ".reduction.json").read_text()) == {"smaller": True}
    run.ends = None
    run.reduce()
    assert run.known == [{}, {"smaller": True}]


def test_interestingness_names_the_finding_and_the_run(tmp_path):
    folder = tmp_path / "out" / "findings" / "ab12"
    folder.mkdir(parents=True)
    in_place.write_interestingness(folder)
    script = (folder / "is_interesting").read_text()
    assert f"reduce ab12 --out {tmp_path / 'out'}" in script
    assert '--candidate "${1:-variant.py}"' in script
