"""What is found out about a finding, and that nothing is asked twice or for nothing."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from eqfuzz.oracle.compare.verdict import Evidence, Verdict, VerdictKind
from eqfuzz.run.configs.named import DEFAULT_CONFIG
from eqfuzz.run.jobs.case import Case
from eqfuzz.triage.findings.finding import DrawCount, Finding
from eqfuzz.triage.findings.finding_environment import FindingEnvironment
from eqfuzz.triage.findings.stage import LADDER, Ablation
from eqfuzz.triage.locate.analysis import FURTHER_DRAWS, FindingAnalyser
from eqfuzz.triage.locate.torch_accuracy import own_checks
from tests.unit.children import Children, Told, shown
from tests.unit.triage.findings import finding_of

AGREE, WRONG = (
    Verdict(VerdictKind.AGREE, "it agrees"),
    Verdict(VerdictKind.WRONG_RESULT, "it differs", Evidence(path="output")),
)
AUDITED: Told = [{"event": "audited", "suspects": ["aten.amin: off by 3"]}]


def confirmed(*checks: str, **changed: Any) -> Finding:
    given = {
        "settings": {"name": "inductor"},
        "ablation": None,
        "environment": FindingEnvironment(checks=checks, seed=7),
    }
    return finding_of(**{**given, **changed})


def look(finding: Finding, **tells: Any) -> tuple[Finding, Children]:
    children = Children(tells)
    return FindingAnalyser(children).look(finding), children


def test_what_no_check_asks_for_is_not_looked_at():
    finding = confirmed("outputs")
    looked, children = look(finding, audit=AUDITED)
    assert looked == finding
    assert children.cases == []


def test_the_audit_names_operators():
    looked, children = look(confirmed("audit"), audit=AUDITED)
    assert looked.suspects == ("aten.amin: off by 3",)
    again, children = look(looked, audit=AUDITED)
    assert again == looked
    assert children.cases == []


def test_an_audit_that_dies_names_none():
    looked, _ = look(confirmed("audit"), audit=[])
    assert looked.suspects == ()


@pytest.mark.parametrize(
    "changed",
    [
        {"device": "cuda"},
        {"settings": {"name": "eager", "backend": "eager"}},
        {"kind": VerdictKind.COMPILER_CRASH},
    ],
)
def test_what_has_no_kernels_of_its_own_to_audit_is_not_audited(changed):
    looked, children = look(confirmed("audit", **changed), audit=AUDITED)
    assert looked.suspects == ()
    assert children.cases == []


@pytest.mark.parametrize("failing", range(FURTHER_DRAWS + 1))
def test_other_draws_are_counted_with_the_first(failing):
    def drawn(case: Case) -> Told:
        return shown({"inductor": WRONG if case.seed <= 7 + failing else AGREE})

    looked, children = look(confirmed("draws"), compare=drawn)
    assert looked.draws == DrawCount(1 + failing, 1 + FURTHER_DRAWS)
    assert [case.seed for case in children.cases] == [8, 9]
    again, children = look(looked, compare=drawn)
    assert again == looked
    assert children.cases == []


def test_a_draw_that_shows_something_else_does_not_count():
    other = Verdict(VerdictKind.COMPILER_CRASH, "it fails")
    looked, _ = look(confirmed("draws"), compare=shown({"inductor": other}))
    assert looked.draws == DrawCount(1, 3)


def test_each_backend_below_is_asked():
    verdicts = {"eager": AGREE, "aot_eager": WRONG, "aot_eager_decomp_partition": WRONG}
    looked, children = look(confirmed("stage"), compare=shown(verdicts))
    assert [config.backend for config in children.cases[0].configs] == list(LADDER)
    assert looked.ablation == Ablation("wrong-result", "inductor", {k: str(v.kind) for k, v in verdicts.items()})
    assert looked.ablation.stage == "AOTAutograd"


def test_below_dynamo_there_is_nothing_to_ask():
    finding = confirmed("stage", settings={"name": "eager", "backend": "eager"})
    looked, children = look(finding)
    assert looked.ablation == Ablation("wrong-result", "eager", {})
    assert children.cases == []
    assert looked.ablation.stage == "Dynamo"


def test_a_process_that_dies_is_that_backends_verdict():
    died: Told = [
        {"event": "stage", "stage": "compile", "config": "aot_eager", "seconds": 5},
        {"event": "exit", "reason": "crash", "detail": "killed by SIGSEGV"},
    ]
    looked, _ = look(confirmed("stage"), compare=[*shown({"eager": AGREE}), *died])
    assert looked.ablation is not None
    assert looked.ablation.shown == {"eager": "agree", "aot_eager": "process-crash"}


def test_a_place_is_found_where_none_is_known():
    bisected = {"backend": "inductor", "subsystem": "lowerings", "bisect_number": 2, "debug_info": "amin_1"}
    right = dict.fromkeys(LADDER, "agree")
    finding = confirmed("place", ablation=Ablation("wrong-result", "inductor", right))
    finding = dataclasses.replace(finding, suspects=("aten.amin: off by 3",))
    looked, children = look(finding, bisect=[{"event": "bisected", "found": bisected}])
    assert children.jobs[0] == "bisect"
    assert looked.blame is not None
    assert looked.blame.detail == "amin_1"
    assert looked.fingerprint == "values · Inductor, lowerings: amin"
    assert look(looked)[1].cases == []


@pytest.mark.parametrize("told", [[], [{"event": "same", "found": {"output": {"same": False, "assert_close": True}}}]])
def test_torch_s_own_checks(monkeypatch, tmp_path, told):
    children = Children({"same": told})
    monkeypatch.setattr("eqfuzz.triage.locate.torch_accuracy.pool_for", lambda *_, **__: children)
    found = own_checks(confirmed("outputs"), tmp_path, tmp_path)
    assert found == (told[0]["found"] if told else {})
    assert children.jobs == ["same"]


def test_what_needs_several_threads_is_told_with_one():
    settings = DEFAULT_CONFIG.with_threads(2).model_dump(exclude_defaults=True)
    finding = confirmed("stage", settings=settings, config="inductor@2", ablation=Ablation("wrong-result", "", {}))
    assert finding.about_threads == "2; with one: not judged"
    looked, children = look(finding, compare=lambda case: shown({config.name: AGREE for config in case.configs}))
    assert looked.about_threads == "2; with one: agree"
    (config,) = children.cases[0].configs
    assert config == DEFAULT_CONFIG
    again, children = look(looked)
    assert again == looked
    assert children.cases == []
    assert look(confirmed("stage", ablation=finding.ablation))[0].about_threads == ""
