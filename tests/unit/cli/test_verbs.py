"""The other verbs, and what the command line costs before it does anything."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

import eqfuzz
from eqfuzz.cli import doctor
from eqfuzz.cli.options.values import BadOption, seconds_of
from eqfuzz.torch_internals import contract
from tests.unit.cli.in_process import call

HEAVY = ("torch", "libcst", "numpy", "rich", "eqfuzz.campaign", "eqfuzz.rewrite")


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["mutate", "--help"],
        ["replay", "--help"],
        ["audit", "--help"],
        ["config", "tuples", "--help"],
        ["--version"],
    ],
)
def test_help_imports_nothing_heavy(arguments):
    script = (
        "import sys\n"
        "from eqfuzz.cli import main\n"
        f"sys.argv[1:] = {arguments!r}\n"
        "try:\n    main()\nexcept SystemExit as end:\n    code = end.code\n"
        f"print('loaded', [name for name in {HEAVY!r} if name in sys.modules], code)\n"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert ran.stdout.splitlines()[-1] == "loaded [] 0"


def test_help_names_every_verb_and_the_exit_codes():
    result = call("--help")
    assert result.exit_code == 0
    for word in ("mutate", "replay", "audit", "config", "rules", "doctor", "130 interrupted"):
        assert word in result.stdout


def test_version_is_printed():
    result = call("--version")
    assert (result.exit_code, result.stdout) == (0, f"eqfuzz {eqfuzz.__version__}\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["mutat"], "Did you mean 'mutate'?"),
        ([], "Missing command"),
        (["replay"], "ID"),
        (["audit"], "PATHS"),
        (["--nope"], "--nope"),
        (["findings", "--sort", "nope"], "Invalid value for '--sort': 'nope' is not one of 'bucket', "),
    ],
)
def test_wrong_command_line_is_one_line_and_exit_2(arguments, message):
    result = call(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert "--help" in result.stderr
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90", 90),
        ("90s", 90),
        ("10m", 600),
        ("1h", 3600),
        ("1h30m", 5400),
        ("1.5h", 5400),
        ("2d", 172800),
        ("0.5", 0.5),
    ],
)
def test_duration_with_units_is_in_seconds(text, seconds):
    assert seconds_of(text, "--time") == seconds


@pytest.mark.parametrize("text", ["", "m", "1x", "1h 30m!", "-1", "1e3", "ten", "0m", "nan"])
def test_invalid_duration_is_refused(text):
    with pytest.raises(BadOption, match=r"^--time: "):
        seconds_of(text, "--time")


@pytest.fixture
def findings(tmp_path):
    """A run's folder with three findings: fixed, still failing, broken."""
    scripts = {
        "aaaa000001": "print('compiled: equal')",
        "aaab000002": "print('compiled: differs')\nraise SystemExit(1)",
        "bbbb000003": "import no_such_module",
    }
    for name, script in scripts.items():
        folder = tmp_path / "findings" / name
        folder.mkdir(parents=True)
        (folder / "repro.py").write_text(script + "\n")
        (folder / "verdict.json").write_text(json.dumps({"kind": "wrong-result", "message": "it\ndiffers"}))
    return tmp_path


@pytest.mark.parametrize(
    ("id", "message", "code"),
    [
        ("aaaa000001", "FIXED", 0),
        ("aaab", "STILL FAILING", 1),
        ("b", "ERROR", 3),
    ],
)
def test_replay_prints_outcome(findings, id, message, code):
    result = call("replay", id, "--out", str(findings))
    assert result.exit_code == code
    last = result.stdout.splitlines()[-1]
    assert last.startswith(f"{message}  {id}")
    assert last.endswith("wrong-result: it differs")


def test_replay_shows_output_of_reproducer(findings):
    assert "compiled: differs" in call("replay", "aaab", "--out", str(findings)).stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["aaa"], "fits 2 findings: aaaa000001, aaab000002"),
        (["aaac000002"], "close: aaab000002"),
        (["zzzz"], "no finding 'zzzz'"),
        (["aaab", "--python", "/no/such/python"], "/no/such/python"),
        ([""], "fits 3 findings"),
        (["../findings/aaab000002"], "no finding"),
    ],
)
def test_replay_of_missing_finding_is_one_line_and_exit_2(findings, arguments, message):
    result = call("replay", *arguments, "--out", str(findings))
    assert result.exit_code == 2
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_replay_without_findings_names_option(tmp_path):
    result = call("replay", "aaaa", "--out", str(tmp_path))
    assert result.exit_code == 2
    assert "--out" in result.stderr


def test_rules_as_a_table_and_as_json():
    table = call("rules", "operators/*")
    assert table.exit_code == 0
    assert re.search(r"operators +add_function +bitwise", table.stdout)
    lines = [json.loads(line) for line in call("rules", "operators/*", "--format", "json").stdout.splitlines()]
    assert {line["family"] for line in lines} == {"operators"}
    by_name = {line["name"]: line for line in lines}
    assert by_name["operators/add_function"]["exactness"] == "bitwise"
    assert by_name["operators/add_function"]["doc"]
    assert f"{len(lines):,} rules in 1 family" in table.stdout


def test_missing_rule_is_one_line_with_suggestion():
    result = call("rules", "operatrs")
    assert result.exit_code == 2
    assert "did you mean 'operators'?" in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_doctor_prints_line_per_item():
    result = call("doctor")
    names = [line[:15].strip() for line in result.stdout.splitlines()]
    for name in (
        "python",
        "torch",
        "torch internals",
        "CUDA",
        "temp folder",
        "cores",
        "memory",
        "mold",
        "sandbox",
        "graphviz",
    ):
        assert name in names
    assert result.exit_code == (2 if "missing" in result.stdout else 0)


@pytest.mark.parametrize(
    ("lost", "state", "line"),
    [
        ("", doctor.MISSING, r"torch\._gone, torch\._dynamo\.no_such_name \(counts wings\): .*torches\.md"),
        ("no wings", doctor.ABSENT, r"torch\._gone, torch\._dynamo\.no_such_name \(no wings\): private names"),
    ],
)
def test_doctor_names_features_lost_with_missing_torch_names(monkeypatch, lost, state, line):
    there = contract.PrivateName("torch._dynamo:reset", "starts anew")
    lacking = [
        contract.PrivateName(path, "counts wings", lost) for path in ("torch._gone:x", "torch._dynamo:no_such_name")
    ]
    monkeypatch.setattr(contract, "CONTRACT", (there, *lacking))
    check = next(c for c in doctor.checks() if c.name == "torch internals")
    assert check.state == state
    assert re.search(rf"torch internals {state} +{line}", check.line)


def test_doctor_suggests_package_of_missing_compiler(monkeypatch):
    monkeypatch.setenv("CXX", "no-such-compiler")
    result = call("doctor")
    assert result.exit_code == 2
    assert re.search(r"no-such-compiler missing +not found: .*apt install g\+\+", result.stdout)
    assert "needed and missing: no-such-compiler" in result.stdout


def test_doctor_accepts_missing_optional_tools(monkeypatch):
    monkeypatch.setattr(doctor.shutil, "which", lambda name: None)
    states = {check.name: check.state for check in doctor.checks()}
    assert states["mold"] == states["graphviz"] == doctor.ABSENT
    assert doctor.MISSING in states.values()


def test_doctor_reports_temp_folder_that_is_not_writable(monkeypatch, tmp_path):
    monkeypatch.setattr(doctor.tempfile, "gettempdir", lambda: str(tmp_path / "none"))
    check = next(c for c in doctor.checks() if c.name == "temp folder")
    assert check.state == doctor.MISSING
    assert "TMPDIR" in check.line


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["/nowhere.py"], "/nowhere.py: no such file or folder"),
        ([__file__, "--config", "aot_eager"], "only what Inductor compiles can be audited"),
        ([__file__, "--config", "all"], "one configuration at a time"),
    ],
)
def test_unauditable_input_is_one_line_and_exit_2(arguments, message):
    result = call("audit", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1
