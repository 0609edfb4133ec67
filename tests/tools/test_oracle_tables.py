"""Tables of the oracle's page: made from the summary of a self-check, in the marked places only."""

import json
import subprocess
import sys

import pytest

from tools.oracle_tables import PAGE, summary_of, with_tables
from tools.release_columns import with_table


def counts(fault: str, **detected: int) -> dict:
    return {
        "fault": fault,
        "dtype": "float32",
        "group": "outputs",
        "planted": 200,
        "detected": {"eqfuzz": 198, **detected},
        "missed": {},
    }


SUMMARY = {
    "recall": {
        "rows": [counts("relative error 1e-4", assert_close=199), counts("relative error 1e-5")],
        "programs": {"float32": 50},
        "false_alarms": {"float32": {"NNSmith": 7}},
        "left_out": [],
        "called_wrong": [],
    },
    "precision": [
        {
            "name": "program and rewrite, eager",
            "kinds": {"agree": 1499, "inconclusive": 1},
            "called_wrong": [],
            "inconclusive": {},
            "alarms": {},
        }
    ],
}


def test_tables_replace_what_stands_between_the_marks():
    page = PAGE.read_text(encoding="utf-8")
    new = with_tables(page, SUMMARY)
    assert "99.0 % of the 200 errors of 1e-4 and 99.0 % of the 200 errors of 1e-5 are detected." in new
    assert "| float32 | outputs | relative error 1e-4 | 200 | 99.0 | **99.5** | 0.0 | 0.0 | 0.0 | 0.0 | 0.0 |" in new
    assert "| float32 | 50 | 0 | 0 | 7 | 0 | 0 | 0 |" in new
    assert "| program and rewrite, eager | 1,500 | 1,499 | 1 | 0 |" in new
    assert with_tables(new, SUMMARY) == new
    assert new.splitlines()[:20] == page.splitlines()[:20]


def test_events_of_an_earlier_version_are_read(tmp_path):
    row = {"fault": "zeroed", "dtype": "float32", "group": "outputs", "planted": 2, "seen": {"eqfuzz": 2}, "missed": {}}
    recall = {"rows": [row], "subjects": {"float32": 9}, "wolves": {"float32": {}}, "left_out": [], "claims": ["a.py"]}
    pairs = {"name": "eager", "kinds": {"inconclusive": 1}, "claimed": ["b.py"], "doubts": {"c.py": 1}, "alarms": {}}
    events = tmp_path / "events.ndjson"
    events.write_text(json.dumps({"recall": recall, "precision": [pairs]}) + "\n")
    summary = summary_of(events)
    assert summary["recall"]["rows"][0]["detected"] == {"eqfuzz": 2}
    assert summary["recall"]["programs"] == {"float32": 9}
    assert summary["recall"]["false_alarms"] == {"float32": {}}
    assert summary["recall"]["called_wrong"] == ["a.py"]
    assert summary["precision"][0]["called_wrong"] == ["b.py"]
    assert summary["precision"][0]["inconclusive"] == {"c.py": 1}
    assert summary["precision"][0]["kinds"] == {"inconclusive": 1}


def test_page_without_the_marks_is_refused():
    with pytest.raises(ValueError, match="recall: begin"):
        with_table("# A page\n", "| a |\n", "recall")


def test_events_without_both_tables_are_refused(tmp_path):
    events = tmp_path / "events.ndjson"
    events.write_text(json.dumps({"event": "summary", "passed": True, "recall": None, "precision": None}) + "\n")
    command = [sys.executable, "-m", "tools.oracle_tables", str(events)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=PAGE.parents[2])
    assert done.returncode == 2
    assert "whole self-check" in done.stderr
