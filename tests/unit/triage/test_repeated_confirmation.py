"""What has a confirmed defect is not run in a fresh process once more."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from eqfuzz.run.environment import Environment
from eqfuzz.run.messages.finding_jobs import DescribeJob
from eqfuzz.run.messages.seed_jobs import RunJob
from eqfuzz.triage.confirm import reproduction
from eqfuzz.triage.confirm.cell import Cell
from eqfuzz.triage.confirm.confirmation import ConfirmedFinding, FindingConfirmer
from eqfuzz.triage.confirm.finding_cases import config_of
from eqfuzz.triage.confirm.replay import STILL_FAILING, ReplayOutcome
from eqfuzz.triage.findings.finding import FORK, FRESH, Finding
from eqfuzz.triage.findings.folder import read_finding
from tests.unit.children import DESCRIBED, Children
from tests.unit.triage.findings import finding_of


@pytest.fixture
def confirm(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    replays: list[Path] = []

    def replay(folder: Path, **_: object) -> ReplayOutcome:
        replays.append(folder)
        return ReplayOutcome(STILL_FAILING, "", "")

    monkeypatch.setattr(reproduction, "replay", replay)

    def confirmed(is_confirmed: Callable[[Finding], bool], seed: str = "") -> tuple[Finding, int]:
        finding = finding_of(settings={"name": "inductor"})
        finding = finding.for_seed(seed or finding.original.name)
        config = config_of(finding)
        job = RunJob(program=finding.original, configs=(config,), checks=("results",))
        pool = Children({DescribeJob: [DESCRIBED]})
        confirmer = FindingConfirmer(job, [], pool, Environment(tmp_path), {}, is_confirmed)
        result = confirmer.confirm([Cell(0, "cpu", config.name, finding.verdict, 1.0)], None)
        assert isinstance(result, ConfirmedFinding)
        assert (result.folder / "repro.py").is_file()
        assert read_finding(result.folder) == result.finding
        return result.finding, len(replays)

    return confirmed


def test_first_finding_of_a_defect_runs_in_a_fresh_process(confirm) -> None:
    questions: list[Finding] = []

    def is_confirmed(finding: Finding) -> bool:
        questions.append(finding)
        return False

    finding, replays = confirm(is_confirmed)
    assert (finding.confirmation, replays) == (FRESH, 1)
    assert len(questions) == 2


def test_further_findings_of_it_do_not(confirm) -> None:
    finding, replays = confirm(lambda _: True)
    assert (finding.confirmation, replays) == (FORK, 0)


def test_finding_of_an_earlier_run_is_shown_with_the_seed_of_this_run(confirm) -> None:
    first, _ = confirm(lambda _: False, "seeds/first.py")
    second, replays = confirm(lambda _: False, "seeds/copy.py")
    assert (second.id, replays) == (first.id, 2)
    assert (first.original.name, second.original.name) == ("seeds/first.py", "seeds/copy.py")
