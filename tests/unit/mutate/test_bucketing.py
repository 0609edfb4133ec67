"""What becomes of a run's findings: buckets, known issues, and what no longer reproduces; and how a run adds up."""

import datetime

import pytest

from eqfuzz.events.run import CellJudged, FindingReported, SeedDone
from eqfuzz.mutate.bucketing import BucketAssignment, Bucketer
from eqfuzz.mutate.counters import RunCounters
from eqfuzz.oracle.compare.verdict import Verdict, VerdictKind
from eqfuzz.triage.findings.buckets import KEPT, bucket_id
from eqfuzz.triage.findings.folder import write_folder
from eqfuzz.triage.findings.known_issues import KnownIssue
from tests.unit.triage.findings import finding_of

DAY = datetime.date(2026, 1, 1)
URL = "https://github.com/pytorch/pytorch/issues/1"


def issue(**given):
    return KnownIssue(url=URL, added=DAY, **given)


def found(id, fingerprint="values · amin"):
    return finding_of(id=id, fingerprint=fingerprint)


def sort(sorting, out, finding):
    folder = write_folder(out / "findings", finding, "", None)
    return sorting.assign(finding, folder), folder.exists()


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
    sorting, name = Bucketer(tmp_path, []), bucket_id("values · amin")
    for number in range(KEPT):
        assert sort(sorting, tmp_path, found(f"{number}")) == (BucketAssignment(name), True)
    assert sort(sorting, tmp_path, found("9")) == (BucketAssignment(name, kept=False), False)
    assert sort(sorting, tmp_path, found("8", "other")) == (BucketAssignment(bucket_id("other")), True)
    assert sort(sorting, tmp_path, found("3")) == (BucketAssignment(name), True)


def test_the_next_run_in_the_folder_goes_on_counting(tmp_path):
    for number in range(KEPT):
        sort(Bucketer(tmp_path, []), tmp_path, found(str(number)))
    assert sort(Bucketer(tmp_path, []), tmp_path, found("9"))[1] is False


def test_what_was_not_placed_is_in_no_bucket_and_keeps_its_folder(tmp_path):
    sorting = Bucketer(tmp_path, [])
    for number in range(KEPT + 1):
        assert sort(sorting, tmp_path, found(str(number), "")) == (BucketAssignment(), True)


def test_known_ones_are_told_with_their_address(tmp_path):
    sorting = Bucketer(tmp_path, [issue(fingerprint="values · amin")])
    assert sort(sorting, tmp_path, found("1"))[0] == BucketAssignment(bucket_id("values · amin"), issue=URL)
    assert sort(sorting, tmp_path, found("2", "other"))[0].issue == ""
    unplaced = Bucketer(tmp_path, [issue(regex="differs")])
    assert sort(unplaced, tmp_path, found("3", ""))[0] == BucketAssignment(issue=URL)


def test_expired_issues_know_nothing(tmp_path):
    sorting = Bucketer(tmp_path, [issue(regex="differs", expires=DAY)])
    assert sort(sorting, tmp_path, found("1"))[0].issue == ""


SEEDS = ("regressions/amin.py",)
AMIN = issue(fingerprint="values · amin", title="amin of bytes", seeds=SEEDS)


def test_an_issue_is_gone_where_its_seed_compiles_right(tmp_path):
    sorting = Bucketer(tmp_path, [AMIN])
    assert sorting.gone_issues() == []
    sorting.note_event(judged("seeds/regressions/amin.py"))
    assert sorting.gone_issues() == [f"{URL} (amin of bytes): regressions/amin.py compiles right"]


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
def test_nothing_else_shows_that_it_is_gone(tmp_path, event):
    sorting = Bucketer(tmp_path, [AMIN])
    sorting.note_event(event)
    assert sorting.gone_issues() == []


def test_an_issue_that_something_showed_is_not_gone(tmp_path):
    broader = issue(regex="differs", seeds=SEEDS)
    sorting = Bucketer(tmp_path, [AMIN, broader])
    sorting.note_event(judged("regressions/amin.py"))
    assert len(sorting.gone_issues()) == 2
    sort(sorting, tmp_path, found("1"))
    assert sorting.gone_issues() == []


def test_an_expired_issue_is_not_told_as_gone(tmp_path):
    sorting = Bucketer(tmp_path, [issue(regex="differs", expires=DAY, seeds=SEEDS)])
    sorting.note_event(judged("regressions/amin.py"))
    assert sorting.gone_issues() == []


def test_a_broken_buckets_file_is_told_at_once(tmp_path):
    (tmp_path / "buckets.json").write_text("{")
    with pytest.raises(ValueError, match=r"buckets\.json"):
        Bucketer(tmp_path, [])


def test_known_findings_are_counted_apart():
    tally = RunCounters()
    for id, bucket, known in [("1", "b1", ""), ("2", "b1", ""), ("3", "", ""), ("4", "", ""), ("5", "b2", URL)]:
        tally.count_event(
            FindingReported(index=0, finding=found(id), folder="folder", known=False, bucket=bucket, issue=known)
        )
    tally.count_event(FindingReported(index=1, finding=found("2"), folder="folder", known=True, bucket="b1"))
    tally.count_event(FindingReported(index=1, finding=found("5"), folder="folder", known=True, bucket="b2", issue=URL))
    tally.gone = ["z", "a"]
    summary = tally.summary(seed=0, interrupted=False, out_of_time=False, seconds=1.0, cpu_seconds=1.0)
    assert (summary.findings, summary.buckets, summary.known, summary.gone) == (4, 3, 1, ["a", "z"])


def test_dropped_findings_are_findings_all_the_same():
    tally = RunCounters()
    for number in range(8):
        tally.count_event(
            FindingReported(
                index=0, finding=found(str(number)), folder="folder", known=False, bucket="b1", kept=number < KEPT
            )
        )
    summary = tally.summary(seed=0, interrupted=False, out_of_time=False, seconds=1.0, cpu_seconds=1.0)
    assert (summary.findings, summary.buckets) == (8, 1)
