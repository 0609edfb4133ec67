"""The table of releases: rows from the events of runs, combined parts, resumed sessions, and the page."""

import datetime
import json

import pytest

from eqfuzz.program.release import Release
from eqfuzz.triage.findings.known_issues import KnownIssue
from tools.torch_matrix import __main__ as torches
from tools.torch_matrix.environment import BadVersion, Environment
from tools.torch_matrix.page import page, works
from tools.torch_matrix.row import PARTS, Measurement, combine, summarise, without_numbers

SUMMARY = {"event": "summary", "seeds": 3, "interrupted": False, "gone": [], "cpu_seconds": 4.5, "errors": []}


def cell(kind, message="", config="inductor"):
    return {"event": "cell", "config": config, "verdict": {"kind": kind, "message": message}}


EVENTS = [
    {"event": "invalid", "reason": "raises in eager: RuntimeError: 12 is too many"},
    {"event": "invalid", "reason": "raises in eager: RuntimeError: 13 is too many"},
    cell("agree"),
    cell("agree", config=""),
    cell("unsupported", "no kernel for 3 of 4"),
    cell("wrong-result"),
    {"event": "finding", "seed": "seeds/a/known.py", "issue": "(not reported)", "fingerprint": "f"},
    {"event": "finding", "seed": "seeds/a/new.py", "issue": "", "fingerprint": "values · Inductor"},
    SUMMARY,
]
PASSED = {"passed": True, "detail": ""}


@pytest.fixture
def results():
    parts = {f"seeds {part + 1}": summarise([cell("agree"), SUMMARY], "") for part in range(PARTS)}
    return {"doctor": PASSED, "self-check": PASSED, "contract": PASSED, **parts}


def test_run_is_summarised_as_counts():
    result = summarise(EVENTS, "")
    assert result["invalid"] == {"raises in eager: RuntimeError: N is too many": 2}
    assert result["cells"] == 3
    assert result["verdicts"] == {"agree": 1, "unsupported": 1, "wrong-result": 1}
    assert result["unsupported"] == {"no kernel for N of N": 1}
    assert result["known"] == ["(not reported) known.py"]
    assert result["new"] == ["seeds/a/new.py: values · Inductor"]


def test_interrupted_run_gives_no_row():
    with pytest.raises(RuntimeError, match="no space left"):
        summarise([cell("agree")], "no space left")
    with pytest.raises(RuntimeError):
        summarise([{**SUMMARY, "interrupted": True}], "")


def test_parts_are_combined():
    total = combine([summarise(EVENTS, ""), summarise(EVENTS, "")])
    assert total["seeds"] == 6
    assert total["cpu_seconds"] == 9
    assert total["verdicts"]["agree"] == 2
    assert total["new"] == ["seeds/a/new.py: values · Inductor"]


def test_numbers_in_messages_are_replaced():
    assert without_numbers("a 1.5 b\n 23") == "a N b N"


def test_only_valid_versions_are_installed(tmp_path):
    assert Environment.of("2.13.0+cpu", tmp_path).folder == tmp_path / "2.13.0+cpu"
    for wrong in ("newest", "2.13", "2.13.0; rm", "torch==2.13.0", ""):
        with pytest.raises(BadVersion, match="no release of torch"):
            Environment.of(wrong, tmp_path)
    assert torches.main(["newest"]) == 2


def test_interrupted_session_resumes_with_remaining_steps(tmp_path, monkeypatch, results):
    steps = []

    def step(name):
        steps.append(name)
        if name == "seeds 2" and len(steps) < 6:
            raise KeyboardInterrupt
        return results[name]

    monkeypatch.setattr(Measurement, "steps", lambda self: {name: lambda name=name: step(name) for name in results})
    monkeypatch.setattr(Environment, "install", lambda self: None)
    monkeypatch.setattr(torches, "release_of", lambda python: Release("2.13.0", "cu130"))
    monkeypatch.setattr(torches, "ROWS", tmp_path / "torches.json")
    monkeypatch.setattr(torches, "PAGE", tmp_path / "torches.md")
    monkeypatch.setattr(torches, "ROOT", tmp_path)
    call = ["2.13.0", "--folder", str(tmp_path / "work"), "--keep"]
    with pytest.raises(KeyboardInterrupt):
        torches.main(call)
    with (tmp_path / "work" / "journal.jsonl").open("a") as journal:
        journal.write('\n{"version": "2.13.0", "step": "seeds 2", "resu')
    assert torches.main(call) == 0
    assert steps == [*list(results)[:5], *list(results)[4:]]
    (row,) = json.loads((tmp_path / "torches.json").read_text())["rows"]
    assert row["seeds"]["seeds"] == 12
    assert "| 2.13.0 | cu130 |" in (tmp_path / "torches.md").read_text()


def test_page_has_failed_checks_and_missing_issues(results):
    row = torches.row_of({**results, "seeds 1": summarise(EVENTS, "")}, Release("2.13.0", "cu130"))
    assert not works(row)
    entry = {"url": "(not reported)", "added": datetime.date(2026, 1, 1), "regex": "x"}
    reproduced = KnownIssue(**entry, title="reproduced", seeds=("a/known.py",), torch="<2.14")
    hidden = KnownIssue(**entry, title="hidden", seeds=("a/other.py",))
    fixed = KnownIssue(**entry, title="fixed", seeds=("a/known.py",), torch="<2.13")
    text = page([row], "not run: no device", [reproduced, hidden, fixed])
    assert "| 1 of 2 |" in text
    assert "- Does not show: hidden ((not reported))" in text.splitlines()
    assert "| 2.13.0 | cu130 |" in text
    assert "**no**" in text
    assert "| 10 of 12 |" in text
    for line in (
        "- 2 invalid: raises in eager: RuntimeError: N is too many",
        "- 1 cells unsupported: no kernel for N of N",
        "- No known issue: seeds/a/new.py: values · Inductor",
        "not run: no device",
    ):
        assert line in text.splitlines()
    assert works(torches.row_of(results, Release("2.13.0", "cu130")))
