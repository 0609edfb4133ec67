"""Programs generated and compared at once, as a user runs it."""

import json

import pytest

from tests.commandline import eqfuzz

pytestmark = pytest.mark.slow


def test_generated_programs_are_compared(tmp_path):
    done = eqfuzz(
        "generate", "dag", "--count", 3, "--run", "--out", tmp_path, "--format", "json", "-p", 1, "--config", "eager"
    )
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode in (0, 1), done.stderr
    names = [event["event"] for event in events]
    assert names.count("program") == 3
    assert names.count("generation") == 1
    assert names[-1] == "summary"
    assert events[-1]["seeds"] == 3
    assert events[-1]["cells"] >= 3
    assert not events[-1]["invalid"]
    assert names.index("generation") < names.index("start")
