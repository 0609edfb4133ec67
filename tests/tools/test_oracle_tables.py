"""Tables of the oracle's page: made from the summary of a self-check, in the marked places only."""

import json
import subprocess
import sys

import pytest

from tools.oracle_tables import PAGE, with_tables
from tools.release_columns import with_table


def counts(fault: str, **detected: int) -> dict:
    return {
        "fault": fault,
        "dtype": "float32",
        "group": "outputs",
        "planted": 200,
        "seen": {"eqfuzz": 198, **detected},
        "missed": {},
    }


SUMMARY = {
    "recall": {
        "rows": [counts("relative error 1e-4", assert_close=199), counts("relative error 1e-5")],
        "subjects": {"float32": 50},
        "wolves": {"float32": {"NNSmith": 7}},
        "left_out": [],
        "claims": [],
    },
    "precision": [
        {
            "name": "program and rewrite, eager",
            "kinds": {"agree": 1499, "inconclusive": 1},
            "claimed": [],
            "doubts": {},
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
