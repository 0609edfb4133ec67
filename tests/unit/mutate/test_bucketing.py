"""Buckets and known issues of a run's findings, issues that no longer reproduce, and the counters of a run."""

import datetime

import pytest

from eqfuzz.events.run import CellJudged, FindingReported, SeedDone
from eqfuzz.mutate.bucketing import BucketAssignment, Bucketer
from eqfuzz.mutate.counters import RunCounters
from eqfuzz.oracle.compare.verdict import Verdict, VerdictKind
from eqfuzz.triage.findings.buckets import KEPT, bucket_id
from eqfuzz.triage.findings.folder import write_folder
from eqfuzz.triage.findings.known_issues import KnownIssue
from eqfuzz.triage.reproducer.script_files import ReproducerScript
from tests.unit.triage.findings import finding_of

DAY = datetime.date(2026, 1, 1)
URL = "https://github.com/pytorch/pytorch/issues/1"


def issue(**fields):
    return KnownIssue(url=URL, added=DAY, **fields)


def finding(id, fingerprint="values · amin"):
    return finding_of(id=id, fingerprint=fingerprint)


def sort(bucketer, out, finding):
    folder = write_folder(out / "findings", finding, ReproducerScript(""), None)
    return bucketer.assign(finding, folder), folder.exists()


def judged(seed, kind=VerdictKind.AGREE, variant=0, config="inductor", device="cpu"):
    return CellJudged(
        index=0,
        seed=seed,
        variant=variant,
        rules=[],
        device=device,
        config=config,
        verdict=Verdict(kind, ""),
        seconds=0.1,
    )


def test_findings_of_one_defect_share_a_bucket_and_the_sixth_loses_its_folder(tmp_path):
    bucketer, name = Bucketer(tmp_path, []), bucket_id("values · amin")
    for number in range(KEPT):
        assert sort(bucketer, tmp_path, finding(f"{number}")) == (BucketAssignment(name), True)
    assert sort(bucketer, tmp_path, finding("9")) == (BucketAssignment(name, kept=False), False)
    assert sort(bucketer, tmp_path, finding("8", "other")) == (BucketAssignment(bucket_id("other")), True)
    assert sort(bucketer, tmp_path, finding("3")) == (BucketAssignment(name), True)


def test_next_run_in_the_folder_continues_the_buckets(tmp_path):
    for number in range(KEPT):
        sort(Bucketer(tmp_path, []), tmp_path, finding(str(number)))
    assert sort(Bucketer(tmp_path, []), tmp_path, finding("9"))[1] is False


def test_finding_without_fingerprint_has_no_bucket_and_keeps_its_folder(tmp_path):
    bucketer = Bucketer(tmp_path, [])
    for number in range(KEPT + 1):
        assert sort(bucketer, tmp_path, finding(str(number), "")) == (BucketAssignment(), True)


def test_known_issue_is_assigned_by_its_address(tmp_path):
    bucketer = Bucketer(tmp_path, [issue(fingerprint="values · amin")])
    assert sort(bucketer, tmp_path, finding("1"))[0] == BucketAssignment(bucket_id("values · amin"), issue=URL)
    assert sort(bucketer, tmp_path, finding("2", "other"))[0].issue == ""
    unplaced = Bucketer(tmp_path, [issue(regex="differs")])
    assert sort(unplaced, tmp_path, finding("3", ""))[0] == BucketAssignment(issue=URL)


def test_expired_issue_is_not_assigned(tmp_path):
    bucketer = Bucketer(tmp_path, [issue(regex="differs", expires=DAY)])
    assert sort(bucketer, tmp_path, finding("1"))[0].issue == ""


SEEDS = ("regressions/amin.py",)
AMIN = issue(fingerprint="values · amin", title="amin of bytes", seeds=SEEDS)


def test_issue_is_gone_when_its_seed_compiles_correctly(tmp_path):
    bucketer = Bucketer(tmp_path, [AMIN])
    assert bucketer.gone_issues() == []
    bucketer.note_event(judged("seeds/regressions/amin.py"))
    assert bucketer.gone_issues() == [f"{URL} (amin of bytes): regressions/amin.py compiles correctly"]


@pytest.mark.parametrize(
    "event",
    [
        judged("seeds/regressions/amin.py", VerdictKind.WRONG_RESULT),
        judged("seeds/regressions/amin.py", VerdictKind.INCONCLUSIVE),
        judged("seeds/regressions/amin.py", variant=1),
        judged("seeds/regressions/amin.py", config="eager"),
        judged("seeds/regressions/amin.py", device="cuda"),
        judged("seeds/my-regressions/amin.py"),
        judged("amin.py"),
        SeedDone(index=0, seed="seeds/regressions/amin.py", seconds=1.0, cpu_seconds=1.0, timings={}),
    ],
)
def test_other_events_do_not_make_an_issue_gone(tmp_path, event):
    bucketer = Bucketer(tmp_path, [AMIN])
    bucketer.note_event(event)
    assert bucketer.gone_issues() == []


def test_reproduced_issue_is_not_gone(tmp_path):
    broader = issue(regex="differs", seeds=SEEDS)
    bucketer = Bucketer(tmp_path, [AMIN, broader])
    bucketer.note_event(judged("regressions/amin.py"))
    assert len(bucketer.gone_issues()) == 2
    sort(bucketer, tmp_path, finding("1"))
    assert bucketer.gone_issues() == []


def test_expired_issue_is_not_gone(tmp_path):
    bucketer = Bucketer(tmp_path, [issue(regex="differs", expires=DAY, seeds=SEEDS)])
    bucketer.note_event(judged("regressions/amin.py"))
    assert bucketer.gone_issues() == []


def test_broken_buckets_file_is_refused_at_once(tmp_path):
    (tmp_path / "buckets.json").write_text("{")
    with pytest.raises(ValueError, match=r"buckets\.json"):
        Bucketer(tmp_path, [])


def test_known_findings_are_counted_apart():
    counters = RunCounters()
    for id, bucket, address in [("1", "b1", ""), ("2", "b1", ""), ("3", "", ""), ("4", "", ""), ("5", "b2", URL)]:
        counters.count_event(
            FindingReported(index=0, finding=finding(id), folder="folder", known=False, bucket=bucket, issue=address)
        )
    counters.count_event(FindingReported(index=1, finding=finding("2"), folder="folder", known=True, bucket="b1"))
    counters.count_event(
        FindingReported(index=1, finding=finding("5"), folder="folder", known=True, bucket="b2", issue=URL)
    )
    counters.gone = ["z", "a"]
    summary = counters.summary(seed=0, interrupted=False, out_of_time=False, left_out=[], seconds=1.0, cpu_seconds=1.0)
    assert (summary.findings, summary.buckets, summary.known, summary.gone) == (4, 3, 1, ["a", "z"])


def test_findings_without_folder_are_counted():
    counters = RunCounters()
    for number in range(8):
        counters.count_event(
            FindingReported(
                index=0, finding=finding(str(number)), folder="folder", known=False, bucket="b1", kept=number < KEPT
            )
        )
    summary = counters.summary(seed=0, interrupted=False, out_of_time=False, left_out=[], seconds=1.0, cpu_seconds=1.0)
    assert (summary.findings, summary.buckets) == (8, 1)
