"""``eqfuzz issue``: the files that it writes, its warnings, and requests that cannot be met. Nothing is compiled."""

import json
import sys

import pytest

from eqfuzz.oracle.compare.verdict import VerdictKind
from eqfuzz.program.release import Release
from eqfuzz.triage.confirm.fresh_process import ProcessResult
from eqfuzz.triage.confirm.replay import FIXED, STILL_FAILING, ReplayOutcome
from eqfuzz.triage.findings.folder import write_folder
from eqfuzz.triage.locate.bisection import NotBlamed
from eqfuzz.triage.reproducer.script_files import READ_VALUES, ReproducerScript
from eqfuzz.triage.upstream import evidence
from tests.unit.cli.in_process import call
from tests.unit.triage.findings import SOURCE, finding_of

SCRIPT = '"""Long."""\n\nimport torch\n\nprint("compiled: differs")\nraise SystemExit(1)\n'
CRASH = finding_of(
    VerdictKind.COMPILER_CRASH,
    id="dd00000004",
    source=SOURCE.replace("x + 1", "x.amin(0)"),
    message="call 0: compiled raises InductorError: AssertionError: no loop",
)
PRIVATE = finding_of(VerdictKind.COMPILER_CRASH, id="ee00000005")


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """A run folder with two findings; the texts of the scripts that were run, which fail."""
    monkeypatch.chdir(tmp_path)
    write_folder(tmp_path / "out" / "findings", CRASH, ReproducerScript(SCRIPT), None)
    private = ReproducerScript(f"import pathlib\n{READ_VALUES}\n{SCRIPT}", "SECRET = 271828\n")
    write_folder(tmp_path / "out" / "findings", PRIVATE, private, None)
    runs: list[tuple[str, str]] = []

    def run_script(script, python, seconds, environment, sandbox_paths):
        runs.append((script.read_text(), python))
        return ReplayOutcome(FIXED if python == "/new/python" else STILL_FAILING, "compiled: differs\n")

    def bisect_script(script, **options):
        raise NotBlamed("no backend shows it")

    facts = {name: [] for name in ("special", "limits", "subnormal", "draws", "jumps", "ties")}
    answer = ProcessResult(0, json.dumps({**facts, "ties": ["argmax\x1b[2J"], "error": ""}))
    monkeypatch.setattr(evidence, "run_script", run_script)
    monkeypatch.setattr(evidence, "run_fresh", lambda *about, **more: answer)
    monkeypatch.setattr(evidence, "bisect_script", bisect_script)
    monkeypatch.setattr("eqfuzz.triage.confirm.replay.torch_versions", lambda python: "PyTorch version: 2.13.0")
    return runs


def in_json(*options):
    result = call("issue", *options, "--out", "out", "--format", "json")
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    return json.loads(result.stdout)


def one_line(*options):
    result = call("issue", *options, "--out", "out")
    assert result.exit_code == 2, result.output
    (line,) = result.stderr.splitlines()
    return line


def test_issue_is_written_and_printed(runs, tmp_path):
    result = call("issue", "dd", "--out", "out")
    folder = tmp_path / "out" / "findings" / CRASH.id
    assert result.exit_code == 0, result.stderr
    assert result.stdout.rstrip("\n") == (folder / "issue.md").read_text().rstrip("\n")
    assert "PyTorch version: 2.13.0" in result.stdout
    assert "compiled: differs" in result.stdout
    assert "It fails in 3 of 3 runs" in result.stdout
    function = (folder / "test_fn.py").read_text()
    assert "def test_fn() -> bool:" in function
    assert function.strip() in result.stdout
    test = (folder / "unit_test.py").read_text()
    assert "@unittest.expectedFailure" in test
    assert test.strip() in result.stdout


def test_warnings_are_lines_on_stderr_and_do_not_change_the_exit_code(runs):
    result = call("issue", "dd", "--out", "out", "--quick")
    assert result.exit_code == 0
    *warnings, last = result.stderr.splitlines()
    assert last == f"{len(warnings)} warnings: see to them before you report it"
    assert warnings[0] == (
        "warning: tie: argmax\ufffd[2J chooses one of several equal values; which index is chosen is not defined; "
        "take inputs without equal values, or return values instead of indices"
    )
    assert "\x1b" not in result.stdout


def test_everything_is_in_the_object(runs, tmp_path):
    result = in_json("dd")
    assert result["id"] == CRASH.id
    assert result["text"] == (tmp_path / "out" / "findings" / CRASH.id / "issue.md").read_text()
    assert [warning["check"] for warning in result["warnings"]] == ["tie", "backend"]
    assert set(result["warnings"][0]) == {"check", "what", "why", "advice"}
    assert "oncall: pt2" in result["labels"]
    assert (result["evidence"]["failing"], result["evidence"]["runs"]) == (3, 3)
    assert result["duplicates"] == []


def test_other_releases_are_tried(runs, monkeypatch):
    monkeypatch.setattr(
        "eqfuzz.cli.findings.issue.interpreter_of", lambda name: ("/new/python", Release("99.0.0", "cpu"))
    )
    result = in_json("dd", "--quick", "--python", "python99")
    assert [python for _, python in runs] == [sys.executable] * 3 + ["/new/python"]
    assert list(result["evidence"]["releases"].values()) == ["still fails", "passes"]
    assert "fixed" in [warning["check"] for warning in result["warnings"]]
    assert "| 99.0.0 cpu | passes |" in result["text"]


def test_issue_says_where_no_other_release_was_tried(runs):
    assert "No other release than" in in_json("dd", "--quick")["text"]


def test_tracker_is_searched_for_duplicates(runs, tmp_path):
    issues = [
        {"number": 7, "title": "amin: InductorError AssertionError: no loop in AOTAutograd", "url": "https://a/7"},
        {"number": 8, "title": "Other"},
    ]
    (tmp_path / "issues.jsonl").write_text("\n".join(map(json.dumps, issues)))
    result = in_json("dd", "--quick", "--tracker", "issues.jsonl")
    (duplicate,) = result["duplicates"]
    assert (duplicate["number"], duplicate["url"]) == (7, "https://a/7")
    assert "amin" in duplicate["shared"]
    assert "https://a/7 amin: InductorError" in result["text"].split("###")[0]
    assert "duplicate" in [warning["check"] for warning in result["warnings"]]
    assert "github.com/pytorch/pytorch/issues?q=" in result["text"]


def test_known_issue_is_reported_already(runs, tmp_path):
    (tmp_path / "known.toml").write_text("[[issue]]\nurl = 'https://a/1'\nadded = 2026-01-01\nregex = 'no loop'\n")
    result = in_json("dd", "--quick", "--known-issues", "known.toml")
    assert "it is a known issue: https://a/1" in [warning["what"] for warning in result["warnings"]]


def test_private_values_are_run_and_not_shown(runs):
    result = in_json("ee", "--quick")
    assert "private" in [warning["check"] for warning in result["warnings"]]
    assert "271828" not in json.dumps(result)
    reported = in_json("ee", "--quick", "--with-values")
    assert "private" not in [warning["check"] for warning in reported["warnings"]]
    assert "SECRET = 271828" in reported["text"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--tracker", "none"], "--tracker: none: cannot be read"),
        (["--timeout", "nonsense"], "--timeout: 'nonsense' is not a duration"),
        (["--timeout", "0"], "--timeout: '0' leaves no time"),
        (["--python", "no-such-python"], "--python: no-such-python: no such program"),
        (["--known-issues", "none"], "none"),
    ],
)
def test_invalid_option_is_one_line(runs, options, message):
    assert message in one_line("dd", *options)
    assert runs == []
