"""What is found out about a finding, and that nothing is asked twice or for nothing."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from eqfuzz.oracle.audit.suspect import Audit, Disagreement, SourceLocation, Suspect
from eqfuzz.oracle.compare.verdict import Evidence, Verdict, VerdictKind
from eqfuzz.run.configs.named import DEFAULT_CONFIG
from eqfuzz.run.messages.finding_jobs import (
    AccuracyChecked,
    AccuracyJob,
    AuditJob,
    BisectJob,
    BisectorResult,
    CompareJob,
    FaultBisected,
    OperatorsAudited,
)
from eqfuzz.run.messages.job import ChildExit, StageEntered
from eqfuzz.triage.findings.finding import DrawCount, Finding
from eqfuzz.triage.findings.finding_environment import FindingEnvironment
from eqfuzz.triage.findings.stage import LADDER, Ablation
from eqfuzz.triage.locate.analysis import FURTHER_DRAWS, FindingAnalyser
from eqfuzz.triage.locate.fault_locator import NAMING_SECONDS
from eqfuzz.triage.locate.torch_accuracy import own_checks
from tests.unit.children import Children, Events, cell_reports
from tests.unit.triage.findings import finding_of

AGREE, WRONG = (
    Verdict(VerdictKind.AGREE, "it agrees"),
    Verdict(VerdictKind.WRONG_RESULT, "it differs", Evidence(path="output")),
)
SUSPECT = Suspect(
    operator="aten.amin",
    expression="amin(x)",
    graph=0,
    kind="forward",
    node="amin",
    place=SourceLocation(line=3, text="y = x.amin()"),
    half=False,
    disagreement=Disagreement(message="off by 3", dtype="float32", shape=()),
)
AUDITED: Events = [OperatorsAudited(audit=Audit((SUSPECT,), graphs=1, audited=1, skipped={}))]


def confirmed(*checks: str, **changed: Any) -> Finding:
    fields = {
        "settings": {"name": "inductor"},
        "ablation": None,
        "environment": FindingEnvironment(checks=checks, seed=7),
    }
    return finding_of(**{**fields, **changed})


JOBS = {"audit": AuditJob, "compare": CompareJob, "bisect": BisectJob}


def look(finding: Finding, **events: Any) -> tuple[Finding, Children]:
    children = Children({JOBS[name]: some for name, some in events.items()})
    return FindingAnalyser(children).look(finding), children


def test_only_requested_analyses_run():
    finding = confirmed("outputs")
    looked, children = look(finding, audit=AUDITED)
    assert looked == finding
    assert children.jobs == []


def test_the_audit_names_operators():
    looked, children = look(confirmed("audit"), audit=AUDITED)
    assert looked.suspects == (SUSPECT.in_words(),)
    again, children = look(looked, audit=AUDITED)
    assert again == looked
    assert children.jobs == []


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
def test_only_findings_of_inductor_on_cpu_are_audited(changed):
    looked, children = look(confirmed("audit", **changed), audit=AUDITED)
    assert looked.suspects == ()
    assert children.jobs == []


@pytest.mark.parametrize("failing", range(FURTHER_DRAWS + 1))
def test_other_draws_are_counted_with_the_first(failing):
    def drawn(job: CompareJob) -> Events:
        return cell_reports({"inductor": WRONG if job.seed <= 7 + failing else AGREE})

    looked, children = look(confirmed("draws"), compare=drawn)
    assert looked.draws == DrawCount(1 + failing, 1 + FURTHER_DRAWS)
    assert [job.seed for job in children.jobs] == [8, 9]
    again, children = look(looked, compare=drawn)
    assert again == looked
    assert children.jobs == []


def test_draw_with_another_verdict_is_not_counted():
    other = Verdict(VerdictKind.COMPILER_CRASH, "it fails")
    looked, _ = look(confirmed("draws"), compare=cell_reports({"inductor": other}))
    assert looked.draws == DrawCount(1, 3)


def test_each_backend_below_the_findings_own_is_judged():
    verdicts = {"eager": AGREE, "aot_eager": WRONG, "aot_eager_decomp_partition": WRONG}
    looked, children = look(confirmed("stage"), compare=cell_reports(verdicts))
    assert [config.backend for config in children.jobs[0].configs] == list(LADDER)
    assert looked.ablation == Ablation("wrong-result", "inductor", {k: str(v.kind) for k, v in verdicts.items()})
    assert looked.ablation.stage == "AOTAutograd"


def test_no_backend_is_judged_below_eager():
    finding = confirmed("stage", settings={"name": "eager", "backend": "eager"})
    looked, children = look(finding)
    assert looked.ablation == Ablation("wrong-result", "eager", {})
    assert children.jobs == []
    assert looked.ablation.stage == "Dynamo"


def test_death_of_a_process_is_the_verdict_of_its_backend():
    died: Events = [
        StageEntered(stage="compile", config="aot_eager", seconds=5.0),
        ChildExit(reason="crash", detail="killed by SIGSEGV"),
    ]
    looked, _ = look(confirmed("stage"), compare=[*cell_reports({"eager": AGREE}), *died])
    assert looked.ablation is not None
    assert looked.ablation.shown == {"eager": "agree", "aot_eager": "process-crash"}


def test_finding_without_fingerprint_is_localised():
    result = BisectorResult(backend="inductor", subsystem="lowerings", bisect_number=2, debug_info="amin_1")
    right = dict.fromkeys(LADDER, "agree")
    finding = confirmed("place", ablation=Ablation("wrong-result", "inductor", right))
    finding = dataclasses.replace(finding, suspects=("aten.amin: off by 3",))
    looked, children = look(finding, bisect=[FaultBisected(verdict=WRONG, result=result)])
    assert isinstance(children.jobs[0], BisectJob)
    assert looked.blame is not None
    assert looked.blame.detail == "amin_1"
    assert looked.fingerprint == "values · Inductor, lowerings: amin"
    assert look(looked)[1].jobs == []


CHECKED = {"output": {"same": False, "assert_close": True}}


@pytest.mark.parametrize(("events", "expected"), [([], {}), ([AccuracyChecked(results=CHECKED)], CHECKED)])
def test_results_of_torchs_accuracy_checks_are_returned(monkeypatch, tmp_path, events, expected):
    children = Children({AccuracyJob: events})
    monkeypatch.setattr("eqfuzz.triage.locate.torch_accuracy.pool_for", lambda *_, **__: children)
    assert own_checks(confirmed("outputs"), tmp_path, tmp_path) == expected
    assert [type(job) for job in children.jobs] == [AccuracyJob]


def test_finding_with_several_threads_is_judged_with_one():
    settings = DEFAULT_CONFIG.with_threads(2).model_dump(exclude_defaults=True)
    finding = confirmed("stage", settings=settings, config="inductor@2", ablation=Ablation("wrong-result", "", {}))
    assert finding.about_threads == "2; with one: not judged"
    looked, children = look(finding, compare=lambda job: cell_reports({config.name: AGREE for config in job.configs}))
    assert looked.about_threads == "2; with one: agree"
    (config,) = children.jobs[0].configs
    assert config == DEFAULT_CONFIG
    again, children = look(looked)
    assert again == looked
    assert children.jobs == []
    assert look(confirmed("stage", ablation=finding.ablation))[0].about_threads == ""


def test_hang_is_located_with_less_time():
    finding = confirmed("stage", "draws", kind=VerdictKind.HANG, evidence=None)
    hang: Events = [
        StageEntered(stage="compile", seconds=30.0, variant=0, device="cpu", config="aot_eager"),
        ChildExit(reason="hang", detail="no end of stage compile"),
    ]
    looked, children = look(finding, compare=hang)
    assert [job.limits.compile_s for job in children.jobs] == [finding.environment.compile_seconds / 3]
    assert looked.environment == finding.environment
    assert looked.ablation is not None
    assert looked.ablation.shown == {"aot_eager": "hang"}


@pytest.mark.parametrize(("backend", "seconds"), [("eager", NAMING_SECONDS), ("aot_eager", 30.0)])
def test_hang_is_named_with_less_time_where_no_code_is_generated(backend, seconds):
    earlier = dict.fromkeys(LADDER[: LADDER.index(backend)], "agree")
    ablation = Ablation("hang", "inductor", {**earlier, backend: "hang"})
    finding = confirmed("place", kind=VerdictKind.HANG, evidence=None, ablation=ablation)
    looked, children = look(finding)
    assert {job.limits.compile_s for job in children.jobs} == {seconds}
    assert looked.environment == finding.environment
