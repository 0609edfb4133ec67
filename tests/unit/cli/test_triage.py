"""The verbs that sort findings: buckets and known issues; and those that work on one or on many."""

import datetime
import json

import pytest

from eqfuzz.oracle.compare.verdict import VerdictKind
from eqfuzz.triage.findings.buckets import Buckets, bucket_id
from eqfuzz.triage.findings.folder import write_folder
from eqfuzz.triage.findings.known_issues import read_known_issues
from eqfuzz.triage.reproducer.script_files import ReproducerScript
from tests.unit.cli.in_process import call
from tests.unit.triage.findings import SOURCE, finding_of

# Of no known issue in the shipped list.
LEAST, MOST = "values · Inductor, lowerings: minimum", "values · Inductor, lowerings: maximum"
FIRST = finding_of(id="aa00000001", fingerprint=LEAST, source=SOURCE.replace("x + 1", "x.amin(0)"))
SECOND = finding_of(id="bb00000002", fingerprint=MOST, source=SOURCE.replace("x + 1", "x + 1 + 1"))
THIRD = finding_of(
    VerdictKind.HANG, id="cc00000003", fingerprint=LEAST, source=SOURCE.replace("x + 1", "x + 1 + 1 + 1")
)
LOST = finding_of(VerdictKind.COMPILER_CRASH, id="dd00000004")
ALL = {finding.id: finding for finding in (FIRST, SECOND, THIRD, LOST)}
FIXED, FAILING = "print('compiled: equal')", "print('compiled: differs')\nraise SystemExit(1)"
URL = "https://github.com/pytorch/pytorch/issues/1"


@pytest.fixture
def out(tmp_path, monkeypatch):
    """Three findings in two buckets, and one that was not located."""
    monkeypatch.chdir(tmp_path)
    buckets = Buckets(tmp_path / "out")
    for finding, script in zip(ALL.values(), (FIXED, FAILING, FIXED, FAILING), strict=True):
        write_folder(tmp_path / "out" / "findings", finding, ReproducerScript(script), None)
        if finding.fingerprint:
            buckets.add(finding)
    return tmp_path / "out"


def listed(*options):
    result = call("findings", "--out", "out", "--format", "json", *options)
    entries = [json.loads(line) for line in result.stdout.splitlines()]
    assert result.exit_code == int(bool(entries)), result.stderr
    return entries


def ids(*options):
    return [one["id"][:2] for one in listed(*options)]


def one_line(result, code=2):
    assert result.exit_code == code, result.output
    assert result.stdout == "", result.output
    (line,) = result.stderr.splitlines()
    return line


@pytest.mark.parametrize(
    ("options", "left"),
    [
        ([], "aa cc bb dd".split()),
        (["--bucket", bucket_id(LEAST)], ["aa", "cc"]),
        (["--bucket", bucket_id(MOST)[:4]], ["bb"]),
        (["--bucket", "none"], []),
        (["--new"], ["aa", "bb", "dd"]),
        (["--sort", "kind"], "aa bb dd cc".split()),
        (["--sort", "severity"], "aa bb cc dd".split()),
        (["--sort", "size"], "dd aa bb cc".split()),
        (["--sort", "size", "--new"], ["dd", "aa", "bb"]),
        (["--sort", "kind", "--new", "--kind", "hang"], ["cc"]),
    ],
)
def test_findings_are_chosen_and_sorted(out, options, left):
    entries = ids(*options)
    assert entries == left


def test_seeds_sort_by_name(out):
    assert ids("--sort", "seed") == ids()
    assert "--sort" in one_line(call("findings", "--out", "out", "--sort", "nonsense"))


def test_known_issues_are_listed_last_and_are_not_new(out, tmp_path):
    assert call("known", "add", "aa", "--url", URL, "--out", "out").exit_code == 0
    assert ids() == "bb dd aa cc".split()
    assert ids("--new") == ["bb", "dd"]
    assert [one["issue"] for one in listed("--bucket", bucket_id(LEAST))] == [URL, URL]
    assert URL in call("findings", "--out", "out").stdout
    (tmp_path / "more.toml").write_text("[[issue]]\nurl = 'u'\nadded = 2026-01-01\nregex = 'maximum'\n")
    assert ids("--new", "--known-issues", "more.toml") == ["aa", "dd"]
    (tmp_path / "more.toml").write_text("[[issue]]\n")
    assert "more.toml: issue.1" in one_line(call("findings", "--out", "out", "--known-issues", "more.toml"))


def test_bucket_has_one_heading_with_its_findings_below(out):
    text = call("findings", "--out", "out").stdout.splitlines()
    assert text[0] == f"{bucket_id(LEAST)}  {LEAST}  (2 findings)"
    assert [line.split()[0][:2] for line in text[1:3]] == ["aa", "cc"]
    assert sum(LEAST in line for line in text) == 1
    assert any(line.startswith("  dd") and "AOTAutograd" in line for line in text)


@pytest.mark.parametrize("arguments", [["findings"], ["bucket", "split", "aa"], ["replay", "--all"], ["show", "aa"]])
def test_unreadable_buckets_are_one_line_and_exit_2(out, arguments):
    (out / "buckets.json").write_text("{")
    if arguments == ["replay", "--all"]:
        arguments = ["replay", "--bucket", "b"]
    assert "buckets.json: cannot be read" in one_line(call(*arguments, "--out", "out"))


def test_merged_buckets_stay_merged(out):
    into, other = bucket_id(LEAST), bucket_id(MOST)
    assert call("bucket", "merge", into, other, "--out", "out").stdout == f"{into}: 3 findings\n"
    assert {one["bucket"] for one in listed()} == {into, ""}
    assert f"no bucket '{other}' in out" in one_line(call("bucket", "merge", into, other, "--out", "out"))


def test_split_moves_finding_to_new_bucket(out):
    result = call("bucket", "split", "cc", "--out", "out")
    name = result.stdout.split(":")[0]
    assert result.stdout == f"{name}: {THIRD.id}\n"
    assert ids("--bucket", name) == ["cc"]
    fields = json.loads(call("show", "cc", "--out", "out", "--format", "json").stdout)
    assert fields["bucket"] == name
    assert one_line(call("bucket", "split", "dd", "--out", "out")) == f"eqfuzz: {LOST.id} is in no bucket"
    assert "no finding 'zz'" in one_line(call("bucket", "split", "zz", "--out", "out"))


def test_known_issues_are_added_and_listed(out, tmp_path):
    result = call("known", "add", "aa", "--url", URL, "--title", "it's amin", "--expires", "2999-12-31", "--out", "out")
    assert result.stdout == f"known-issues.toml: {LEAST}  {URL}\n  shown by seeds/some.py\n"
    assert call("known", "add", "dd", "--url", "u", "--regex", "crash: it", "--out", "out").exit_code == 0
    text = call("known", "list").stdout
    assert f"{URL}  it's amin  until 2999-12-31" in text
    assert f"\n  {LEAST}\n" in text
    assert "\n  crash: it\n" in text
    assert f"added = {datetime.date.today()}" in (tmp_path / "known-issues.toml").read_text()
    past = call("known", "add", "bb", "--url", "u", "--expires", "2020-01-01", "--out", "out", "--file", "past.toml")
    assert past.exit_code == 0
    assert " expired" in call("known", "list", "--file", "past.toml").stdout
    assert call("known", "list", "--file", "past.toml").stdout.count(LEAST) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["zz", "--url", "u"], "no finding 'zz'"),
        (["dd", "--url", "u"], "dd00000004 has no fingerprint: it was not located; give a --regex"),
        (["aa", "--url", "u", "--regex", "amax"], "--regex: does not match aa00000001"),
        (["aa", "--url", "u", "--regex", "(amin"], "eqfuzz: regex: missing ), unterminated subpattern at position 0"),
        (["aa", "--url", "u", "--file", "none/known.toml"], "none/known.toml"),
        (["aa", "--url", "u", "--expires", "soon"], "--expires"),
        (["aa", "--url", "u", "--direction", "gradient"], "--direction: is another one in aa00000001"),
        (["aa", "--url", "u", "--access", "write"], "--access: is another one in aa00000001"),
        (["aa", "--url", "u", "--access", "wrote"], "--access"),
        (["aa"], "--url"),
    ],
)
def test_invalid_known_issue_is_one_line(out, tmp_path, arguments, message):
    assert message in one_line(call("known", "add", *arguments, "--out", "out"))
    assert not (tmp_path / "known-issues.toml").exists()


def test_entry_has_the_narrowing_that_was_asked_for(out, tmp_path):
    options = ["--direction", "forward", "--access", "read"]
    assert call("known", "add", "aa", "--url", URL, *options, "--out", "out").exit_code == 0
    (entry,) = read_known_issues([tmp_path / "known-issues.toml"])
    assert (entry.direction, entry.access, entry.seeds) == ("forward", "read", ("seeds/some.py",))


def test_unreadable_known_issues_are_one_line_and_exit_2(out, tmp_path):
    (tmp_path / "known-issues.toml").write_text("[[issue\n")
    for arguments in (
        ["known", "list"],
        ["known", "add", "aa", "--url", "u", "--out", "out"],
        ["findings", "--out", "out"],
    ):
        assert "known-issues.toml: not valid TOML" in one_line(call(*arguments))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["replay", "aa", "--all"], "give one of ID, --all and --bucket"),
        (["replay", "--bucket", "b0", "--all"], "give one of ID, --all and --bucket"),
        (["replay"], "give one of ID, --all and --bucket"),
        (["replay", "--bucket", "nonsense"], "no finding of bucket 'nonsense' in out"),
        (["issue", "zz"], "no finding 'zz'"),
        (["issue", ""], "fits 4 findings"),
        (["reduce", "zz"], "no finding 'zz'"),
        (["reduce", "aa", "--time", "nonsense"], "--time: 'nonsense' is not a duration"),
        (["reduce", "aa", "--time", "0"], "--time: '0' leaves no time"),
        (["reduce", "aa", "--candidate", "none.py"], "none.py"),
    ],
)
def test_invalid_request_is_one_line(out, arguments, message):
    assert message in one_line(call(*arguments, "--out", "out"))


def test_replay_without_findings_is_one_line(tmp_path):
    assert "no finding in" in one_line(call("replay", "--all", "--out", str(tmp_path)))


def test_no_issue_is_written_if_reproducer_fails_itself(out):
    (out / "findings" / FIRST.id / "repro.py").write_text("raise ValueError('its own failure')")
    assert "its own failure" in one_line(call("issue", "aa", "--out", "out"), code=3)
    assert not (out / "findings" / FIRST.id / "issue.md").exists()
