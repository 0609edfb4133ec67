"""The tools of the rule library through the command line: list, show, check."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.commandline import eqfuzz, write

MINE = """
    import os

    import torch

    from eqfuzz.rewrite.guard import floating, no_nan
    from eqfuzz.rewrite.rule import rule


    @rule(exact="bitwise", where=[floating("x", "y"), no_nan("x", "y")], source="me")
    def greater(x, y):
        \"\"\"``x > y`` is ``~(x <= y)``.\"\"\"
        return x > y, ~(x <= y)


    @rule(exact="bitwise", where=[floating("x", "y")])
    def greater_of_anything(x, y):
        \"\"\"Wrong for NaN.\"\"\"
        return x > y, ~(x <= y)


    @rule(exact="bitwise")
    def deadly(x):
        \"\"\"Takes its process with it.\"\"\"
        return torch.sin(x), (torch.sin(x), os.abort())[0]
"""


@pytest.fixture(scope="module")
def mine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("own"), "my_rules.py", MINE)


def rules(*arguments: object) -> subprocess.CompletedProcess[str]:
    return eqfuzz("rules", *arguments)


def events_of(done: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture(scope="module")
def checked(mine: Path) -> subprocess.CompletedProcess[str]:
    return rules("check", "my-rules", "--rules-from", mine, "--jobs", 1, "--draws", 60, "--format", "json")


def test_check_tells_which_rules_hold_in_their_order(checked: subprocess.CompletedProcess[str]) -> None:
    events = events_of(checked)
    assert [e["event"] for e in events] == ["start", "rule", "rule", "rule", "summary"]
    told = {e["rule"]: e["holds"] for e in events if e["event"] == "rule"}
    assert told == {"my-rules/deadly": False, "my-rules/greater": True, "my-rules/greater_of_anything": False}
    assert list(told) == sorted(told)
    assert checked.returncode == 1
    assert checked.stderr == ""


def test_check_shows_the_problem_and_the_operands(checked: subprocess.CompletedProcess[str], mine: Path) -> None:
    events = events_of(checked)
    wrong = next(e for e in events if e.get("rule") == "my-rules/greater_of_anything")
    line = next(n for n, text in enumerate(mine.read_text().splitlines(), 1) if "greater_of_anything" in text)
    assert wrong["place"] == f"{mine}:{line - 1}"
    assert "x = torch." in wrong["problems"][0]
    assert "not bit for bit equal" in wrong["problems"][0]


def test_a_rule_that_kills_its_process_costs_only_itself(checked: subprocess.CompletedProcess[str]) -> None:
    events = events_of(checked)
    deadly = next(e for e in events if e.get("rule") == "my-rules/deadly")
    assert deadly["problems"] == ["trying it ended the process: killed by SIGABRT"]
    assert events[-1]["checked"] == 3
    assert events[-1]["failed"] == ["my-rules/deadly", "my-rules/greater_of_anything"]


def test_check_of_a_rule_that_holds_is_exit_0_and_plain_text(mine: Path) -> None:
    done = rules("check", "greater", "--rules-from", mine, "--draws", 60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("✓ my-rules/greater  ")
    assert "1 rule holds" in done.stdout.splitlines()[-1]
    assert "\x1b" not in done.stdout


def test_show_has_the_declaration_and_an_example_that_was_really_made(mine: Path) -> None:
    page = json.loads(rules("show", "greater", "--rules-from", mine, "--format", "json").stdout)
    assert (page["name"], page["left"], page["right"]) == ("my-rules/greater", "x > y", "~(x <= y)")
    assert page["guards"] == ["x, y: floating", "x, y: free of NaN"]
    assert page["source"] == "me"
    assert "return (x > y)" in page["example"]["before"]
    assert "return (~(x <= y))" in page["example"]["after"]
    text = rules("show", "my-rules/greater", "--rules-from", mine).stdout
    for part in ("my-rules/greater", "x > y  →  ~(x <= y)", "bitwise", "x, y: free of NaN", "@rule(", "+"):
        assert part in text


def test_show_of_every_family_shows_an_example() -> None:
    from eqfuzz.rewrite.demonstration import demonstrate
    from eqfuzz.rewrite.library import shipped_rules

    firsts = {rule.family: rule for rule in reversed(shipped_rules())}
    problems = {rule.name: made for rule in firsts.values() if isinstance(made := demonstrate(rule), str)}
    assert problems == {}


def test_the_list_has_tags_and_counts() -> None:
    lines = events_of(rules("list", "layout", "--format", "json"))
    tagged = [line["name"] for line in lines if "layout" in line["tags"]]
    assert tagged
    assert len(tagged) < len(lines)
    text = rules("layout").stdout
    assert f"{len(lines)} rules in 1 family" in text
    assert f"layout {len(tagged)}" in text.splitlines()[-1]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["show", "add_functon"], "did you mean 'operators/add_function'?"),
        (["show", "operators/add_functon"], "did you mean 'operators/add_function'?"),
        (["check", "shape/*"], "did you mean 'shapes/*'?"),
        (["check", "layout,-layot/*"], "did you mean 'layout/*'?"),
        (["list", "operatrs"], "did you mean 'operators'?"),
        (["check", "--draws", "1"], "--draws"),
    ],
)
def test_what_is_not_there_is_one_line_and_exit_2(arguments: list[str], told: str) -> None:
    done = rules(*arguments)
    assert done.returncode == 2
    assert told in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout == ""
