"""Likely duplicates among the issues of a tracker."""

import json

import pytest

from eqfuzz.triage.upstream.tracker import LIKELY, TrackedIssue, likely_duplicates, names_in, read_tracker

ISSUES = [
    TrackedIssue(number=1, title="[inductor] amin of int8 is wrong", body="torch.compile(lambda x: x.amin(0))"),
    TrackedIssue(number=2, title="[inductor] argmin wrong result after transpose", body=None),
    TrackedIssue(number=3, title="Docs of amin", labels=({"name": "module: docs"},)),
    *(TrackedIssue(number=n, title=f"[inductor] wrong result in torch.compile of model {n}") for n in range(10, 40)),
]
WANTED = {"amin": 3.0, "inductor, lowerings": 1.0, "wrong result": 0.5}


def test_same_place_comes_before_the_same_words():
    ranked = likely_duplicates(ISSUES, WANTED)
    assert [one.issue.number for one in ranked][:2] == [1, 3]
    assert 2 not in [one.issue.number for one in ranked]
    assert ranked[0].shared[0] == "amin"
    assert ranked[0].score > ranked[1].score


def test_issue_with_everything_is_likely():
    issue = TrackedIssue(number=5, title="wrong result of the lowering amin", body="inductor lowerings")
    assert likely_duplicates([*ISSUES, issue], WANTED)[0].score >= LIKELY
    assert likely_duplicates([*ISSUES, issue], WANTED, most=1)[0].issue is issue


def test_no_more_than_asked_for_are_named():
    issues = [TrackedIssue(number=n, title="amin lowerings") for n in range(20)]
    ranked = likely_duplicates(issues, WANTED)
    assert [one.issue.number for one in ranked] == [19, 18, 17, 16, 15]
    assert ranked[0].address == "https://github.com/pytorch/pytorch/issues/19"
    assert likely_duplicates(issues, {}) == []
    assert likely_duplicates([], WANTED) == []


def test_private_names_are_found_without_their_underscore():
    assert names_in("_low_memory_max_pool, aten.amin.default") == {"low_memory_max_pool", "amin"}


@pytest.mark.parametrize("form", ["lines", "array"])
def test_tracker_is_read_as_gh_writes_it(tmp_path, form):
    items = [{"number": 7, "title": "a", "labels": [{"name": "b"}], "state": "OPEN"}, {"number": 8, "title": "c"}]
    text = json.dumps(items, indent=1) if form == "array" else "\n".join(map(json.dumps, items)) + "\n\n"
    (tmp_path / "issues").write_text(text)
    assert [issue.number for issue in read_tracker(tmp_path / "issues")] == [7, 8]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"{\n", "issues:1: not valid JSON"),
        (b'{"number": 1, "title": "a"}\n{"title": "a"}\n', "issues:2: number: Field required"),
        (b"[3]", "issues: issue 1: "),
        (b"\xff", "issues: cannot be read"),
    ],
)
def test_unreadable_tracker_names_its_line(tmp_path, text, message):
    (tmp_path / "issues").write_bytes(text)
    with pytest.raises(ValueError, match="issues") as error:
        read_tracker(tmp_path / "issues")
    assert message in str(error.value)
    assert len(str(error.value).splitlines()) == 1


def test_missing_tracker_is_named(tmp_path):
    with pytest.raises(ValueError, match="cannot be read: No such file"):
        read_tracker(tmp_path / "none")
