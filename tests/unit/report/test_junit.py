"""JUnit XML: a test case for each seed, findings are failures."""

from xml.etree import ElementTree

import junitparser

from eqfuzz.events.campaign import CampaignStarted, ItemEnded
from eqfuzz.events.run import FindingReported, SeedDone, SeedInvalid
from eqfuzz.oracle.compare.verdict import VerdictKind
from eqfuzz.report.machine.report_files import ReportFiles
from eqfuzz.report.machine.report_format import ReportFormat, ReportTarget
from tests.unit.report import sample_events as sample
from tests.unit.report.reports import HOSTILE, finding_event, hostile_event, sweep
from tests.unit.triage.findings import finding_of


def suite_of(path, *events):
    with ReportFiles([ReportTarget(ReportFormat.JUNIT, path)]) as files:
        for event in events:
            files.handle(event)
    return ElementTree.parse(path).getroot().find("testsuite")


def done(index, seed):
    return SeedDone(index=index, seed=seed, seconds=1.5, cpu_seconds=1.0, timings={})


CAMPAIGN_STARTED = CampaignStarted(
    campaign="n",
    seed=0,
    resumed=False,
    sources=[],
    rules=1,
    configs=[],
    devices=[],
    jobs=1,
    executor="local",
    feedback=True,
    out="out",
    store="db",
    versions={},
)


def test_seeds_that_were_not_completed_are_skipped(tmp_path):
    suite = suite_of(tmp_path / "j.xml", done(0, "seeds/a/good.py"), sample.summary(left_out=["seeds/a/late.py"]))
    assert suite.get("skipped") == "1"
    assert suite.get("tests") == "2"
    [late] = [case for case in suite.findall("testcase") if case.get("name") == "late.py"]
    assert late.find("skipped").get("message") == "not completed: the run ended before"


def test_seeds_are_test_cases(tmp_path):
    finding = finding_of(VerdictKind.WRONG_RESULT)
    suite = suite_of(
        tmp_path / "j.xml",
        done(0, "seeds/a/good.py"),
        FindingReported(index=1, finding=finding, folder="out/findings/x", known=False),
        done(1, "seeds/b/bad.py"),
        SeedInvalid(index=2, seed="c.py", reason="c.py: \x1b[31mno"),
        done(2, "c.py"),
        FindingReported(index=3, finding=finding, folder="out/findings/y", known=False, issue="https://example.org/1"),
        done(3, "d.py"),
    )
    assert {name: suite.get(name) for name in ("tests", "failures", "skipped", "errors")} == {
        "tests": "4",
        "failures": "1",
        "skipped": "1",
        "errors": "0",
    }
    good, bad, invalid, of_known_issue = suite.findall("testcase")
    assert (good.get("classname"), good.get("name"), good.get("time")) == ("seeds.a", "good.py", "1.500")
    assert bad.find("failure").get("type") == "wrong-result"
    assert "out/findings/x" in bad.find("failure").text
    assert "\x1b" not in invalid.find("skipped").get("message")
    assert of_known_issue.find("failure") is None
    assert "example.org" in of_known_issue.find("system-out").text


def test_the_suite_counts_invalid_seeds_by_reason(tmp_path):
    suite = suite_of(
        tmp_path / "j.xml",
        SeedInvalid(index=0, seed="a.py", reason="a.py: no inputs"),
        done(0, "a.py"),
        sample.summary(**sample.invalid(2), errors=["this installation is broken: see there"]),
    )
    assert [(suite_of.get("name"), suite_of.get("value")) for suite_of in suite.findall("properties/property")] == [
        ("invalid-seeds", "7"),
        ("invalid-reason", f"6 × {sample.AUTOGRAD} (a.py, …)"),
        ("invalid-reason", "1 × odd\ufffd thing 1 (s1.py:1)"),
    ]
    invalid, broken = suite.findall("testcase")
    assert invalid.find("skipped").get("message") == "a.py: no inputs"
    assert (suite.get("errors"), broken.find("error").text) == ("1", "this installation is broken: see there")


def test_finding_after_seed_done_belongs_to_its_case(tmp_path):
    finding = FindingReported(index=7, finding=finding_of(VerdictKind.HANG), folder="f", known=False)
    suite = suite_of(
        tmp_path / "j.xml",
        CAMPAIGN_STARTED,
        done(7, "a.py"),
        finding,
        ItemEnded(index=7, seed="a.py", state="done", reason="", cells=3, cpu_seconds=1.0),
    )
    [case] = suite.findall("testcase")
    assert case.find("failure") is not None
    assert case.get("time") == "1.500"


def test_unfinished_seed_is_no_case(tmp_path):
    assert suite_of(tmp_path / "j.xml", CAMPAIGN_STARTED, done(7, "a.py")).get("tests") == "0"


def test_most_severe_finding_of_seed_comes_first(tmp_path):
    kinds = (VerdictKind.WRONG_METADATA, VerdictKind.WRONG_RESULT, VerdictKind.HANG)
    findings = [FindingReported(index=0, finding=finding_of(kind), folder=f"out/{kind}", known=False) for kind in kinds]
    suite = suite_of(tmp_path / "j.xml", *findings, done(0, "a.py"), done(1, "b.py"))
    case, clean = suite.findall("testcase")
    assert [failure.get("type") for failure in case.findall("failure")] == ["wrong-result", "hang", "wrong-metadata"]
    [severity] = case.findall("properties/property")
    assert (severity.get("name"), severity.get("value")) == ("severity", "wrong-values")
    assert clean.find("properties") is None


def test_another_program_reads_the_file(tmp_path):
    suite_of(
        tmp_path / "j.xml",
        sample.started(),
        hostile_event(tmp_path / "f"),
        done(0, f"seeds/{HOSTILE}.py"),
        SeedInvalid(index=1, seed="b.py", reason=HOSTILE),
        done(1, "b.py"),
        sample.summary(errors=[HOSTILE]),
    )
    [suite] = junitparser.JUnitXml.fromfile(str(tmp_path / "j.xml"))
    assert (suite.tests, suite.failures, suite.skipped, suite.errors) == (3, 1, 1, 1)
    failing, skipped, broken = suite
    assert [type(case.result[0]).__name__ for case in (failing, skipped, broken)] == ["Failure", "Skipped", "Error"]
    assert failing.result[0].message.startswith("::error file=x,line=1::%0A |`a`")


def test_finding_of_a_seed_that_was_not_completed_is_kept(tmp_path):
    finding = FindingReported(index=7, finding=finding_of(VerdictKind.HANG), folder="f", known=False)
    suite = suite_of(tmp_path / "j.xml", sample.started(), finding)
    assert suite.get("failures") == "1"


def test_programs_of_a_sweep_are_test_cases(tmp_path):
    suite = suite_of(tmp_path / "j.xml", *sweep(finding_event()))
    assert (suite.get("tests"), suite.get("failures")) == ("3", "1")
