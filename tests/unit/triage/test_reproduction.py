"""The reproducer's text, and which of them is left; its processes are only imagined."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from eqfuzz.run.environment import Environment
from eqfuzz.run.messages.finding_jobs import DescribeJob
from eqfuzz.run.messages.job import ChildEvent, ChildExit
from eqfuzz.triage.confirm import reproduction
from eqfuzz.triage.confirm.replay import ERROR, FIXED, STILL_FAILING, ReplayOutcome
from eqfuzz.triage.confirm.reproduction import NoReproducer, ReproducerWriter, require_plain
from eqfuzz.triage.findings.finding import Finding
from eqfuzz.triage.reproducer.script_files import ReproducerScript
from eqfuzz.triage.reproducer.source_description import SourceDescription
from tests.unit.children import CALLS, DESCRIBED, Children
from tests.unit.triage.findings import finding_of


def finding() -> Finding:
    return finding_of(settings={"name": "inductor"})


def reproducing_of(tmp_path: Path, *events: ChildEvent) -> ReproducerWriter:
    return ReproducerWriter(Children({DescribeJob: events}), Environment(tmp_path))


def test_last_script_is_the_complete_one(tmp_path):
    scripts = reproducing_of(tmp_path, DESCRIBED).scripts(finding())
    assert "torch.tensor([1.0, 2.0, 3.0])" in scripts[-1].text
    for script in scripts:
        compile(script.text, "repro.py", "exec")


@pytest.mark.parametrize(
    ("event", "why"),
    [
        (
            dataclasses.replace(DESCRIBED, problem="argument 1 has no form as source"),
            "argument 1 has no form as source",
        ),
        (ChildExit(reason="crash", detail="killed by SIGSEGV"), "read again: killed by SIGSEGV"),
    ],
)
def test_inputs_without_source_have_no_reproducer(tmp_path, event, why):
    with pytest.raises(NoReproducer, match=why):
        reproducing_of(tmp_path, event).scripts(finding())


@pytest.mark.parametrize(
    ("outcomes", "left", "status"),
    [
        ([STILL_FAILING], "short", STILL_FAILING),
        ([FIXED, STILL_FAILING], "long", STILL_FAILING),
        ([ERROR, FIXED], "long", FIXED),
    ],
)
def test_first_failing_script_is_written(monkeypatch, tmp_path, outcomes, left, status):
    ran: list[str] = []

    def replay(folder: Path, **_: Any) -> ReplayOutcome:
        ran.append((folder / "repro.py").read_text())
        return ReplayOutcome(outcomes[len(ran) - 1], "printed")

    monkeypatch.setattr(reproduction, "replay", replay)
    outcome = reproducing_of(tmp_path).first_failing(
        finding(), tmp_path, [ReproducerScript("short"), ReproducerScript("long")]
    )
    assert (outcome.status, (tmp_path / "repro.py").read_text()) == (status, left)
    assert ran == ["short", "long"][: len(outcomes)]


def test_scripts_run_in_the_stock_environment(monkeypatch, tmp_path):
    """OMP_NUM_THREADS is eqfuzz's own; a confirmation goes without it."""
    calls: list[dict[str, Any]] = []
    monkeypatch.setattr(reproduction, "replay", lambda _, **more: calls.append(more) or ReplayOutcome(FIXED, ""))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    reproducing_of(tmp_path).first_failing(finding(), tmp_path, [ReproducerScript("script")])
    assert "OMP_NUM_THREADS" not in calls[0]["environment"]
    assert not calls[0]["untrusted"]


def test_no_script_is_an_error(tmp_path):
    assert reproducing_of(tmp_path).first_failing(finding(), tmp_path, []).status == ERROR


@pytest.mark.parametrize(
    ("described", "why"),
    [
        (SourceDescription("import os\nreturn (os.sep,), {}", None, True), "policy"),
        (SourceDescription("return (types.FunctionType(1, {}),), {}", None, True), "policy"),
        (SourceDescription("return (collections._sys.modules,), {}", None, True), "policy"),
        (SourceDescription("return (", None, True), "not Python"),
        (SourceDescription(CALLS, "__import__('os').system('true')", True), "policy"),
        (SourceDescription(CALLS, None, True, (("", "open('x')", ""),)), "policy"),
    ],
)
def test_description_from_a_sandbox_must_satisfy_the_policy(described, why):
    with pytest.raises(NoReproducer, match=why):
        require_plain(finding(), described)


def test_plain_description_satisfies_the_policy(tmp_path):
    require_plain(finding(), SourceDescription(CALLS, None, True))
    require_plain(
        finding(), SourceDescription("return (collections.OrderedDict({'a': 1}), remake(Kind, {})), {}", None, True)
    )
