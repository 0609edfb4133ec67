"""``eqfuzz replay``: findings, interpreters, and the table of what became of them."""

import json
import sys

import pytest

from eqfuzz.oracle.compare.verdict import VerdictKind
from eqfuzz.program.release import this_release
from eqfuzz.triage.findings.buckets import Buckets, bucket_id
from eqfuzz.triage.findings.finding_environment import FindingEnvironment
from eqfuzz.triage.findings.folder import write_folder
from eqfuzz.triage.reproducer.script_files import ReproducerScript
from tests.unit.cli.in_process import call
from tests.unit.triage.findings import SOURCE, finding_of

MINIMUM, MAXIMUM = "values · Inductor, lowerings: minimum", "values · Inductor, lowerings: maximum"
MADE_WITH = FindingEnvironment(torch="2.13.0", build="cpu", python="3.11.2")
FIXED, FAILING = "print('compiled: equal')", "print('compiled: differs')\nraise SystemExit(1)"
FIXED_LATER = "import os\nprint('compiled: looked at')\nraise SystemExit(os.environ.get('NEWER') != '1')"
BROKEN = "raise ValueError('its own failure')"


def finding(id, fingerprint="", kind=VerdictKind.WRONG_RESULT):
    source = SOURCE.replace("x + 1", f"x + {int(id[2:])}")
    return finding_of(kind, id=id, fingerprint=fingerprint, source=source, environment=MADE_WITH)


SCRIPTS = (
    (finding("aa00000001", MINIMUM), FIXED),
    (finding("bb00000002", MAXIMUM), FAILING),
    (finding("cc00000003", MINIMUM), FIXED_LATER),
    (finding("dd00000004", kind=VerdictKind.COMPILER_CRASH), FAILING),
)


@pytest.fixture
def out(tmp_path, monkeypatch):
    """A bucket of two findings, one of a single finding, and a finding that is in none."""
    monkeypatch.chdir(tmp_path)
    buckets = Buckets(tmp_path / "out")
    for one, script in SCRIPTS:
        write_folder(tmp_path / "out" / "findings", one, ReproducerScript(script), None)
        if one.fingerprint:
            buckets.add(one)
    return tmp_path / "out"


@pytest.fixture
def newer(tmp_path):
    """A Python that says that it has a newer torch."""
    return interpreter(tmp_path, "newer", "2.16.0", "13.4", "NEWER=1")


def interpreter(folder, name, version, cuda=None, sets="", runs=f'exec "{sys.executable}" "$@"'):
    texts = {"__version__": version, "cuda": cuda, "hip": None, "xpu": None, "git_version": "d0f2af8"}
    file = folder / name
    printed = "\n".join(f"{key} = {value!r}" for key, value in texts.items())
    file.write_text(f'#!/bin/sh\nif [ "$1" = -c ]; then cat <<END\n{printed}\nEND\nelse {sets} {runs}\nfi\n')
    file.chmod(0o755)
    return str(file)


def break_down(out, id):
    (out / "findings" / id / "repro.py").write_text(BROKEN)


def events(*options):
    result = call("replay", "--out", "out", "--format", "json", *options)
    *replayed, summary = [json.loads(line) for line in result.stdout.splitlines()]
    assert {event["event"] for event in replayed} == {"replayed"}
    assert summary["event"] == "summary"
    return result.exit_code, replayed, summary


def table(result):
    """The rows of the table: the first word of each, and all of it."""
    lines = result.stdout.splitlines()
    rule = next(i for i, line in enumerate(lines) if set(line.strip()) == {"─"})
    return lines[:rule], [line for line in lines[rule + 1 :] if line[:1] not in ("", " ")]


@pytest.mark.parametrize(
    ("options", "statuses", "code"),
    [
        (["--all"], {"aa": "FIXED", "bb": "STILL FAILING", "cc": "STILL FAILING", "dd": "STILL FAILING"}, 1),
        (["--bucket", bucket_id(MINIMUM)], {"aa": "FIXED", "cc": "STILL FAILING"}, 1),
        (["--bucket", bucket_id(MAXIMUM)[:5], "--jobs", "1"], {"bb": "STILL FAILING"}, 1),
        (["bb"], {"bb": "STILL FAILING"}, 1),
        (["aa"], {"aa": "FIXED"}, 0),
    ],
)
def test_several_findings_are_replayed(out, options, statuses, code):
    ended, replayed, summary = events(*options)
    assert (ended, {event["id"][:2]: event["status"] for event in replayed}) == (code, statuses)
    assert sum(summary.get(status, 0) for status in ("FIXED", "STILL FAILING", "ERROR")) == len(replayed)
    ours = this_release()
    assert {(event["torch"], event["build"]) for event in replayed} == {(ours.release, ours.build)}


def test_each_finding_has_one_event_per_interpreter(out, newer):
    code, replayed, summary = events("--bucket", bucket_id(MINIMUM), "--python", sys.executable, "--python", newer)
    assert code == 1
    ours = this_release()
    assert [(e["id"][:2], e["torch"], e["build"], e["status"]) for e in replayed] == [
        ("aa", ours.release, ours.build, "FIXED"),
        ("aa", "2.16.0", "cu134", "FIXED"),
        ("cc", ours.release, ours.build, "STILL FAILING"),
        ("cc", "2.16.0", "cu134", "FIXED"),
    ]
    assert {event["bucket"] for event in replayed} == {bucket_id(MINIMUM)}
    assert {event["found_with"] for event in replayed} == {"2.13.0 cpu"}
    first, second = summary["interpreters"]
    assert (first["python"], first["FIXED"], first["STILL FAILING"]) == (sys.executable, 1, 1)
    assert second == {"python": newer, "torch": "2.16.0", "build": "cu134", "FIXED": 2}
    assert (summary["FIXED"], summary["STILL FAILING"]) == (3, 1)


def test_event_of_nightly_has_git_revision(out, tmp_path):
    nightly = interpreter(tmp_path, "nightly", "2.17.0.dev20261120+cpu")
    _, (event,), _ = events("aa", "--python", nightly)
    assert (event["torch"], event["build"], event["git"]) == ("2.17.0.dev20261120", "cpu", "d0f2af8")


@pytest.mark.parametrize("width", ["80", "100"])
def test_table_has_row_per_bucket_and_column_per_torch(out, newer, width, monkeypatch):
    monkeypatch.setenv("COLUMNS", width)
    result = call("replay", "--all", "--out", "out", "--python", sys.executable, "--python", newer)
    assert result.exit_code == 1
    assert max(map(len, result.stdout.splitlines())) <= int(width)
    heads, rows = table(result)
    assert heads[-1].split() == f"{this_release()} 2.16.0 cu134".split()
    assert [row.split()[0] for row in rows[:3]] == [bucket_id(MINIMUM), bucket_id(MAXIMUM), "dd00000004"]
    fixed, failing = rows[0], rows[1]
    assert "1 of 2" in fixed
    assert "fixed" in fixed.split("1 of 2")[1]
    assert "values · Inductor" in fixed
    assert failing.count("still failing") == 2
    assert "compiler-crash" in rows[2]
    assert "1 of 2: so many of the bucket's findings still fail" in result.stdout.splitlines()
    assert "2.16.0 cu134: 2 fixed, 2 still failing" in result.stdout.splitlines()


def test_one_finding_with_several_interpreters_is_a_table(out, newer):
    result = call("replay", "cc", "--out", "out", "--python", sys.executable, "--python", newer)
    _, (row, *_) = table(result)
    assert result.exit_code == 1
    assert row.split()[:4] == ["cc00000003", "still", "failing", "fixed"]
    assert "wrong-result" in row


def test_exit_code_is_0_only_if_fixed_for_every_interpreter(out, newer):
    for python, code in ((newer, 0), (sys.executable, 1)):
        result = call("replay", "--bucket", bucket_id(MINIMUM), "--out", "out", "--python", newer, "--python", python)
        assert result.exit_code == code, result.stdout


def test_failing_script_decides_exit_code(out, newer):
    break_down(out, "aa00000001")
    result = call("replay", "--all", "--out", "out", "--python", sys.executable, "--python", newer)
    assert result.exit_code == 3
    _, rows = table(result)
    assert "1 of 2, 1 error" in rows[0]
    assert "0 of 2, 1 error" in rows[0]
    lines = result.stdout.splitlines()
    assert f"ERROR  aa00000001  {this_release()}: ValueError: its own failure" in lines
    assert "ERROR  aa00000001  2.16.0 cu134: ValueError: its own failure" in lines
    break_down(out, "cc00000003")
    _, rows = table(call("replay", "--all", "--out", "out"))
    assert rows[0].split()[:2] == [bucket_id(MINIMUM), "error"]


def test_interpreters_with_same_torch_are_numbered(out, tmp_path, newer):
    result = call("replay", "--bucket", bucket_id(MAXIMUM), "--out", "out", "--python", newer, "--python", newer)
    assert result.stdout.count("still failing") == 2  # the row's, and the interpreter's
    again = interpreter(tmp_path, "again", "2.16.0", "13.4")
    result = call("replay", "--bucket", bucket_id(MAXIMUM), "--out", "out", "--python", newer, "--python", again)
    assert f"2.16.0 cu134 (2): 1 still failing  {again}" in result.stdout.splitlines()


def test_names_are_not_broken_at_80_columns(out, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    versions = ["2.6.0+cpu", "2.8.0+cu128", "2.10.0+rocm6.4", "2.13.0+xpu", "2.17.0.dev20261120+cu132"]
    for number in (3, 5):
        pythons = [interpreter(tmp_path, version, version) for version in versions[:number]]
        options = [word for python in pythons for word in ("--python", python)]
        result = call("replay", "--all", "--out", "out", *options)
        heads, rows = table(result)
        assert [row.split()[0] for row in rows[:3]] == [bucket_id(MINIMUM), bucket_id(MAXIMUM), "dd00000004"]
        assert {part for version in versions[:number] for part in version.split("+")} == set(" ".join(heads).split())
        assert "…" not in result.stdout
        assert number > 3 or max(map(len, result.stdout.splitlines())) <= 80


@pytest.mark.parametrize("options", [["--all"], ["aa"], ["--all", "--format", "json"]])
def test_interpreter_without_torch_is_one_line_before_anything_runs(out, tmp_path, newer, options):
    for one, _ in SCRIPTS:
        (out / "findings" / one.id / "repro.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    (tmp_path / "bare").write_text(f'#!/bin/sh\nexec "{sys.executable}" -S "$@"\n')
    (tmp_path / "bare").chmod(0o755)
    (tmp_path / "no-program").write_text("")
    (tmp_path / "crooked").write_text("#!/no/such/shell\n")
    (tmp_path / "crooked").chmod(0o755)
    for name, why in (
        ("bare", "bare: it has no torch"),
        ("no-program", "no-program: no such program"),
        ("crooked", "crooked: does not start: No such file or directory"),
        ("nowhere", "nowhere: no such program"),
    ):
        result = call("replay", *options, "--out", "out", "--python", newer, "--python", str(tmp_path / name))
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr == f"eqfuzz: --python: {tmp_path}/{why}\n"
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("environment", "origin"),
    [
        ({"torch": "2.13.0", "build": "cpu"}, " (found with 2.13.0 cpu)"),
        ({"torch": "2.13.0"}, " (found with 2.13.0)"),
        ({"torch": "2.16.0", "build": "cpu"}, " (found with 2.16.0 cpu)"),
        ({"torch": "2.16.0", "build": "cu134"}, ""),
        ({"torch": "2.16.0"}, ""),
        ([], ""),
    ],
)
def test_replay_names_torch_of_finding_if_it_differs(out, newer, environment, origin):
    (out / "findings" / "aa00000001" / "environment.json").write_text(json.dumps(environment))
    result = call("replay", "aa", "--out", "out", "--python", newer)
    assert (result.exit_code, result.stderr) == (0, "")
    line = result.stdout.splitlines()[-1]
    assert line == f"FIXED  aa00000001  torch 2.16.0 cu134{origin}  wrong-result: it differs"


def test_folder_with_only_a_script_is_replayed(tmp_path, newer):
    (tmp_path / "findings" / "aaaa").mkdir(parents=True)
    (tmp_path / "findings" / "aaaa" / "repro.py").write_text(FIXED_LATER)
    options = ["--out", str(tmp_path), "--python", newer, "--python", sys.executable]
    result = call("replay", "aaaa", *options)
    _, (row, *_) = table(result)
    assert result.exit_code == 1
    assert row.split() == ["aaaa", "fixed", "still", "failing"]
