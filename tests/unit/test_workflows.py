"""Workflows for GitHub Actions: their commands exist, and nothing hides an exit code."""

from __future__ import annotations

import itertools
import shlex
from pathlib import Path

import pytest
import typer.main
import yaml

from eqfuzz.cli.app import app
from eqfuzz.cli.options.reports import report_targets

NIGHTLY = Path(__file__).parents[2] / ".github" / "workflows" / "nightly.yml"


@pytest.fixture(scope="module")
def steps() -> list[dict[str, object]]:
    workflow = yaml.safe_load(NIGHTLY.read_text(encoding="utf-8"))
    return workflow["jobs"]["regressions"]["steps"]


@pytest.fixture(scope="module")
def arguments(steps) -> list[str]:
    """Of the command that compares."""
    [line] = [
        line for step in steps for line in str(step.get("run", "")).splitlines() if line.startswith("head/bin/eqfuzz ")
    ]
    return [word for word in shlex.split(line)[1:] if "$" not in word and word != "--time"]


def test_the_comparison_is_a_command_that_exists(arguments):
    verb, *rest = arguments
    command = typer.main.get_command(app).commands[verb]
    context = command.make_context(verb, rest)
    assert context.params["python"] == ["base/bin/python", "head/bin/python"]
    root = NIGHTLY.parents[2]
    assert all((root / path).is_dir() for path in context.params["paths"])


def test_every_format_is_written(arguments):
    texts = [following for word, following in itertools.pairwise(arguments) if word == "--report"]
    assert [str(target) for target in report_targets(texts)] == [
        "github",
        "junit=eqfuzz.xml",
        "sarif=eqfuzz.sarif",
        "markdown=eqfuzz.md",
    ]


def test_nothing_hides_the_exit_code(steps):
    text = "\n".join(str(step.get("run", "")) for step in steps)
    assert "|| " not in text
    assert not any("continue-on-error" in step for step in steps)


def test_reports_are_kept_where_there_are_new_buckets(steps):
    after = steps[[step.get("name") for step in steps].index("Compare") + 1 :]
    assert after
    assert all("always()" in str(step["if"]) for step in after)
