"""The verbs about findings that a run has left."""

import dataclasses
import json

import pytest

from eqfuzz.oracle.compare.verdict import VerdictKind
from eqfuzz.triage.findings.buckets import Buckets
from eqfuzz.triage.findings.folder import update_finding, write_folder
from eqfuzz.triage.findings.severity import Severity
from eqfuzz.triage.findings.stage import Blame
from eqfuzz.triage.reproducer.script_files import ReproducerScript
from tests.unit.cli.in_process import call
from tests.unit.triage.findings import finding_of

PLAIN = finding_of()
REWRITTEN = finding_of(VerdictKind.COMPILER_CRASH, rules=("algebra/commute",))


BOTH = finding_of(
    VerdictKind.WRONG_GRADIENT, rules=("algebra/commute",), cells={"C(P)": "wrong-result", "C(P')": "wrong-gradient"}
)
"""The original's values are wrong in another place: no finding of the rewrite."""


@pytest.fixture
def out(tmp_path):
    for finding in (PLAIN, REWRITTEN, BOTH):
        write_folder(tmp_path / "findings", finding, ReproducerScript(""), None)
    return tmp_path


def test_findings_are_listed_with_rule_and_component(out):
    result = call("findings", "--out", str(out))
    assert result.exit_code == 1
    for finding in (PLAIN, REWRITTEN):
        assert finding.id in result.stdout
    assert "algebra/commute" in result.stdout
    assert "AOTAutograd" in result.stdout


@pytest.mark.parametrize(
    ("options", "left"),
    [
        (["--kind", "wrong-result"], [PLAIN]),
        (["--only-rewritten"], [REWRITTEN]),
        (["--kind", "hang"], []),
    ],
)
def test_findings_are_filtered(out, options, left):
    result = call("findings", "--out", str(out), "--format", "json", *options)
    assert [json.loads(line)["id"] for line in result.stdout.splitlines()] == [f.id for f in left]
    assert result.exit_code == int(bool(left))


def test_empty_list_of_findings_is_stated(tmp_path):
    result = call("findings", "--out", str(tmp_path))
    assert result.exit_code == 0
    assert result.stdout == "no findings\n"


def test_blame_added_later_is_shown(out):
    blamed = dataclasses.replace(PLAIN, blame=Blame("inductor", "lowerings", 1, "amin"))
    update_finding(out / "findings" / PLAIN.id, blamed)
    assert "amin" in call("findings", "--out", str(out)).stdout
    text = call("show", PLAIN.id[:5], "--out", str(out)).stdout
    assert "Inductor, lowerings: amin" in text
    assert "it differs" in text


def test_show_as_one_object(out):
    fields = json.loads(call("show", REWRITTEN.id, "--out", str(out), "--format", "json").stdout)
    assert fields["id"] == REWRITTEN.id
    assert fields["ablation"]["shown"]["eager"] == "agree"


@pytest.mark.parametrize("verb", ["show", "blame", "reduce"])
def test_unreadable_finding_is_one_line(out, verb):
    (out / "findings" / PLAIN.id / "repro.py").write_text("")
    (out / "findings" / PLAIN.id / "finding.json").write_text('{"id": 1')
    result = call(verb, PLAIN.id, "--out", str(out))
    assert result.exit_code == 2
    assert result.stdout == ""
    assert len(result.stderr.splitlines()) == 1


def test_no_such_run_is_one_line_and_exit_2(tmp_path):
    result = call("findings", "--out", str(tmp_path / "none"))
    assert result.exit_code == 2
    assert "no such folder" in result.stderr


@pytest.mark.parametrize("verb", [["findings"], ["show", "abc"]])
def test_folder_of_several_runs_is_one_line_and_exit_2(tmp_path, verb):
    for name in ("first", "second"):
        (tmp_path / name / "findings").mkdir(parents=True)
    result = call(*verb, "--out", str(tmp_path))
    assert result.exit_code == 2
    assert f"--out: {tmp_path} is no run but holds first, second: give {tmp_path / 'first'}" in result.stderr


def test_wrong_values_are_listed_before_wrong_metadata(out):
    strides = [
        finding_of(VerdictKind.WRONG_METADATA, fingerprint="metadata · Dynamo", device=f"d{n}") for n in range(3)
    ]
    strides = [dataclasses.replace(one, id=f"{n}aaaaaaaaa") for n, one in enumerate(strides)]
    crash = dataclasses.replace(REWRITTEN, id="3aaaaaaaaa", fingerprint="raises · KeyError")
    wrong = dataclasses.replace(PLAIN, id="4aaaaaaaaa", fingerprint="values · Inductor")
    buckets = Buckets(out)
    for finding in (*strides, crash, wrong):
        write_folder(out / "findings", finding, ReproducerScript(""), None)
        buckets.add(finding)
    listed = [json.loads(line) for line in call("findings", "--out", str(out), "--format", "json").stdout.splitlines()]
    ranks = [Severity(one["severity"]).rank for one in listed]
    assert ranks == sorted(ranks)
    assert len(listed) == 8
    by_kind = call("findings", "--out", str(out), "--sort", "kind").stdout
    assert by_kind.index("wrong-result") < by_kind.index("wrong-metadata")
    text = call("show", strides[0].id, "--out", str(out), "--format", "json").stdout
    assert json.loads(text)["severity"] == "metadata"
