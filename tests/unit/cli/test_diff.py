"""``eqfuzz diff``: what it refuses before anything runs, and its exit codes."""

from __future__ import annotations

import sys

import pytest

from eqfuzz.cli import diff as verb
from eqfuzz.commands.regressions import compare_torches
from eqfuzz.program.release import Release
from tests.unit.cli.in_process import call
from tests.unit.report.test_diff_reports import BucketState, bucket, summary


@pytest.fixture
def interpreters(monkeypatch):
    """Two names that are interpreters."""
    monkeypatch.setattr(
        verb, "interpreter_of", lambda name: (f"/{name}", Release("2.13.0" if name == "a" else "2.15.0"))
    )


def test_interpreters_are_two(interpreters):
    for pythons in (["--python", "a"], ["--python", "a", "--python", "b", "--python", "c"]):
        result = call("diff", *pythons)
        assert result.exit_code == 2
        assert "--python: give it twice, base and then head" in result.stderr


def test_interpreters_are_not_the_same(interpreters):
    result = call("diff", "--python", "a", "--python", "a")
    assert (result.exit_code, result.stderr) == (2, "eqfuzz: --python: /a: named for both\n")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--report", "html=x"], "--report: 'html' is no format"),
        (["--changed", "/no/such/file"], "--changed: /no/such/file: No such file or directory"),
        (["--config", "inductr"], "--config: "),
        (["no_such_seed.py"], "no_such_seed.py: no such file or folder"),
    ],
)
def test_bad_input_is_one_line(options, message, interpreters, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = call("diff", "--python", "a", "--python", "b", *options)
    assert result.exit_code == 2
    assert result.stderr.startswith("eqfuzz: ")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_python_without_torch_is_refused(tmp_path):
    fake = tmp_path / "python"
    fake.write_text("#!/bin/sh\necho it has no torch >&2\nexit 1\n")
    fake.chmod(0o755)
    result = call("diff", "--python", str(fake), "--python", sys.executable)
    assert (result.exit_code, result.stderr) == (2, f"eqfuzz: --python: {fake}: it has no torch\n")


@pytest.mark.parametrize(
    ("buckets", "changed", "code"),
    [
        ([bucket(BucketState.NEW)], {}, 1),
        ([bucket(BucketState.NEW, issue="https://example.org/1")], {}, 0),
        ([bucket(state, str(state)) for state in BucketState if state is not BucketState.NEW], {}, 0),
        ([], {"errors": ["base: it broke"]}, 3),
        ([bucket(BucketState.NEW)], {"interrupted": True}, 130),
    ],
)
def test_only_new_buckets_fail(buckets, changed, code, interpreters, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def compare(request, handler):
        for event in [*buckets, summary(*buckets, **changed)]:
            handler(event)
        return summary(*buckets, **changed)

    monkeypatch.setattr(compare_torches, "compare_torches", compare)
    assert call("diff", "--python", "a", "--python", "b", "--format", "json").exit_code == code
