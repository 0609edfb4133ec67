"""Whatever ends as flaky says why, and the run counts by that."""

from __future__ import annotations

import dataclasses

import pytest

from eqfuzz.events.run import CellJudged
from eqfuzz.mutate.counters import RunCounters
from eqfuzz.oracle.compare.verdict import Verdict, VerdictKind
from eqfuzz.run.environment import Environment
from eqfuzz.run.messages.finding_jobs import DescribeJob
from eqfuzz.run.messages.seed_jobs import RunJob
from eqfuzz.triage.confirm import reproduction
from eqfuzz.triage.confirm.cell import Cell
from eqfuzz.triage.confirm.confirmation import FindingConfirmer
from eqfuzz.triage.confirm.finding_cases import config_of
from eqfuzz.triage.confirm.replay import ERROR, FIXED, ReplayOutcome
from eqfuzz.triage.reproducer.outcome import time_limit
from tests.unit.children import DESCRIBED, Children
from tests.unit.triage.findings import finding_of


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        (ReplayOutcome(FIXED, "", "its script shows no difference"), "does not reproduce in a fresh process"),
        (ReplayOutcome(ERROR, "", "its script raises NameError"), "cannot be confirmed in a fresh process"),
    ],
)
def test_a_finding_that_is_not_confirmed_says_why(monkeypatch, tmp_path, outcome, words):
    monkeypatch.setattr(reproduction, "replay", lambda *_, **__: outcome)
    finding = finding_of(settings={"name": "inductor"})
    cell = Cell(0, "cpu", config_of(finding).name, finding.verdict, 1.0)
    job = RunJob(program=finding.original, configs=(config_of(finding),))
    confirming = FindingConfirmer(job, [], Children({DescribeJob: [DESCRIBED]}), Environment(tmp_path), {})
    verdict = confirming.confirm([cell], None)
    assert isinstance(verdict, Verdict)
    assert verdict.kind is VerdictKind.FLAKY
    assert verdict.cause == outcome.cause
    assert f"{words}, {outcome.cause} ({tmp_path / 'flaky'}" in verdict.message
    assert Verdict.from_json(verdict.to_json()) == verdict


def test_what_ends_in_a_fresh_process_is_slow_and_does_not_hang(monkeypatch, tmp_path):
    replays = []
    monkeypatch.setattr(
        reproduction, "replay", lambda *_, **__: replays.append(1) or ReplayOutcome(FIXED, "", "no difference")
    )
    monkeypatch.setattr(reproduction, "short_reproducer", lambda *_: "pass\n")
    finding = finding_of(settings={"name": "inductor"})
    hang = Verdict(VerdictKind.HANG, "no end of stage compile after 30 seconds")
    job = RunJob(program=finding.original, configs=(config_of(finding),))
    confirming = FindingConfirmer(job, [], Children({DescribeJob: [DESCRIBED]}), Environment(tmp_path), {})
    verdict = confirming.confirm([Cell(0, "cpu", "inductor", hang, 1.0)], None)
    assert isinstance(verdict, Verdict)
    assert (verdict.kind, verdict.cause) == (VerdictKind.INCONCLUSIVE, "")
    assert verdict.message == f"{hang.message}, but in a fresh process it ends"
    assert not list((tmp_path / "findings").iterdir())
    assert len(replays) == 1


@pytest.mark.parametrize(("compiling", "allowed"), [(15.0, 50), (30.0, 95), (90.0, 140)])
def test_script_allows_more_time_than_a_cell(compiling, allowed):
    finding = finding_of()
    environment = finding.environment.model_copy(update={"compile_seconds": compiling})
    assert time_limit(dataclasses.replace(finding, environment=environment)) == allowed


def test_the_run_counts_flaky_cells_by_cause():
    tally = RunCounters()
    for cause in ("its script shows no difference", "not on the stock path", "its script shows no difference"):
        verdict = Verdict(VerdictKind.FLAKY, "it differs", cause=cause)
        tally.count_event(
            CellJudged(
                index=0,
                seed="seed.py",
                variant=0,
                rules=[],
                device="cpu",
                config="inductor",
                verdict=verdict,
                seconds=1.0,
            )
        )
    summary = tally.summary(seed=0, interrupted=False, out_of_time=False, left_out=[], seconds=1.0, cpu_seconds=1.0)
    assert summary.flaky == {"its script shows no difference": 2, "not on the stock path": 1}
    assert summary.to_json()["flaky"] == summary.flaky
