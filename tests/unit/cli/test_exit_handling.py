"""The error boundary of all verbs."""

import os
import signal
from pathlib import Path

import pytest

from eqfuzz.cli.exit_codes import CLEAN, FINDINGS, INTERNAL, INTERRUPTED, USAGE, VerbFailed, code_of
from eqfuzz.cli.exit_handling import exit_code_of, exit_code_of_long_run
from eqfuzz.errors import UsageError
from eqfuzz.mutate.seed_run import InternalError
from eqfuzz.run.protocol import RunnerFailed
from eqfuzz.triage.findings import known_issues
from tests.unit.cli.in_process import call


def raising(error):
    def action():
        raise error

    return action


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (UsageError("--jobs: no"), USAGE, "eqfuzz: --jobs: no\n"),
        (VerbFailed("id:\nno longer reproduces"), INTERNAL, "eqfuzz: id: no longer reproduces\n"),
        (InternalError("a.py: broke", "a traceback"), INTERNAL, "eqfuzz: internal error: a.py: broke\n"),
        (KeyboardInterrupt(), INTERRUPTED, "eqfuzz: interrupted\n"),
        (
            RunnerFailed("no fork"),
            USAGE,
            "eqfuzz: no process that runs programs could be started: no fork; see `eqfuzz doctor`\n",
        ),
    ],
)
def test_exceptions_have_exit_code_and_line(capsys, error, code, message):
    assert exit_code_of(raising(error)) == code
    assert capsys.readouterr().err == message


def test_unexpected_exception_has_traceback_file(capsys, tmp_path):
    assert exit_code_of(raising(ValueError("odd\nmore")), errors_in=tmp_path) == INTERNAL
    (file,) = (tmp_path / "errors").iterdir()
    assert capsys.readouterr().err == f"eqfuzz: internal error: ValueError: odd more (traceback in {file})\n"
    assert "ValueError: odd" in file.read_text()


def test_sigterm_interrupts_long_run(capsys):
    def action():
        os.kill(os.getpid(), signal.SIGTERM)
        raise AssertionError("not interrupted")

    before = signal.getsignal(signal.SIGTERM)
    assert exit_code_of_long_run(action, stopped="") == INTERRUPTED
    assert signal.getsignal(signal.SIGTERM) is before
    assert capsys.readouterr().err == "eqfuzz: interrupted\n"


@pytest.mark.parametrize(
    ("interrupted", "findings", "errors", "code"),
    [
        (False, False, (), CLEAN),
        (False, True, (), FINDINGS),
        (False, True, ("a",), INTERNAL),
        (True, True, ("a",), INTERRUPTED),
    ],
)
def test_interruption_outweighs_errors_and_errors_outweigh_findings(interrupted, findings, errors, code):
    assert code_of(interrupted=interrupted, findings=findings, errors=errors) == code


def test_unexpected_exception_of_a_short_verb_is_no_finding(monkeypatch):
    def read_known_issues(files):
        raise RuntimeError("broken")

    monkeypatch.setattr(known_issues, "read_known_issues", read_known_issues)
    result = call("known", "list")
    assert result.exit_code == INTERNAL
    assert result.stderr.startswith("eqfuzz: internal error: RuntimeError: broken (traceback in ")
    Path(result.stderr.rpartition(" in ")[2].strip().rstrip(")")).unlink()
