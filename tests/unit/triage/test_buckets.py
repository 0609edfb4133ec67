"""Buckets: a few findings of each defect are kept, and what was corrected by hand is remembered."""

import re
from concurrent.futures import ThreadPoolExecutor

import pytest

from eqfuzz.triage.findings.buckets import KEPT, Bucket, Buckets, bucket_id
from tests.unit.triage.findings import finding_of


def found(id, fingerprint="values · amin"):
    return finding_of(id=id, fingerprint=fingerprint)


def test_five_are_kept_and_further_ones_counted(tmp_path):
    buckets = Buckets(tmp_path)
    assert [buckets.add(found(str(number))) for number in range(8)] == [True] * KEPT + [False] * 3
    again = Buckets(tmp_path)
    (bucket,) = again.all.values()
    assert bucket == Bucket(fingerprint="values · amin", members=list("01234"), dropped=list("567"))
    assert bucket.count == 8


def test_the_same_finding_counts_once(tmp_path):
    buckets = Buckets(tmp_path)
    for _ in range(2):
        kept = [buckets.add(found(str(number))) for number in range(6)]
        assert kept == [True] * 5 + [False]
    (bucket,) = buckets.all.values()
    assert bucket.count == 6


def test_two_that_sort_into_one_folder_lose_nothing_of_each_other(tmp_path):
    one, other = Buckets(tmp_path), Buckets(tmp_path)
    kept = [buckets.add(found(str(number))) for number, buckets in enumerate([one, other, one, other, one, other])]
    assert kept == [True] * KEPT + [False]
    (bucket,) = Buckets(tmp_path).all.values()
    assert bucket == Bucket(fingerprint="values · amin", members=list("01234"), dropped=["5"])


def test_many_that_sort_into_one_folder_at_once_lose_nothing(tmp_path):
    def sort(worker):
        buckets = Buckets(tmp_path)
        for number in range(40):
            buckets.add(found(f"{worker}-{number}"))

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(sort, range(4)))
    (bucket,) = Buckets(tmp_path).all.values()
    assert bucket.count == 160


def test_a_file_that_cannot_be_read_is_told(tmp_path):
    (tmp_path / "buckets.json").mkdir()
    with pytest.raises(ValueError, match="cannot be read: Is a directory"):
        Buckets(tmp_path)


def test_what_had_no_place_and_finds_one_later_counts_once(tmp_path):
    buckets = Buckets(tmp_path)
    for number in range(6):
        buckets.add(found(str(number)))
    buckets.split(found("0"))
    assert buckets.add(found("5"))
    assert buckets.all[bucket_id("values · amin")] == Bucket(fingerprint="values · amin", members=list("12345"))


def test_a_finding_that_is_placed_anew_moves(tmp_path):
    buckets = Buckets(tmp_path)
    for finding in (found("a"), found("a", "values · amax"), found("b", "values · amax")):
        buckets.add(finding)
    assert {bucket.fingerprint: bucket.members for bucket in buckets.all.values()} == {"values · amax": ["a", "b"]}


def test_the_largest_comes_first(tmp_path):
    buckets = Buckets(tmp_path)
    for number, fingerprint in enumerate(["one", "two", "two", "three", "three", "three"]):
        buckets.add(found(str(number), fingerprint))
    assert [bucket.fingerprint for bucket in buckets.all.values()] == ["three", "two", "one"]


def test_ids_are_the_same_in_every_run():
    assert bucket_id("values · Inductor, lowerings: amin") == "b35766e3"
    assert re.fullmatch(r"b[0-9a-f]{7}", bucket_id(""))
    assert bucket_id("") != bucket_id(" ")


def test_what_was_merged_stays_merged(tmp_path):
    buckets = Buckets(tmp_path)
    for id, fingerprint in (("1", "one"), ("2", "two"), ("3", "three")):
        buckets.add(found(id, fingerprint))
    one, two, three = map(bucket_id, ("one", "two", "three"))
    buckets.merge(one, two)
    assert buckets.all[one].members == ["1", "2"]
    assert two not in buckets.all
    buckets.merge(three, one)
    again = Buckets(tmp_path)
    assert again.all[three].members == ["3", "1", "2"]
    assert list(again.all) == [three]
    assert {again.of(found("9", name)) for name in ("one", "two", "three")} == {three}
    again.add(found("4", "two"))
    assert again.all[three].members == ["3", "1", "2", "4"]


def test_merging_with_itself_or_with_nothing(tmp_path):
    buckets = Buckets(tmp_path)
    buckets.add(found("1", "one"))
    buckets.merge(bucket_id("one"), bucket_id("one"))
    assert buckets.all[bucket_id("one")].members == ["1"]
    with pytest.raises(KeyError):
        buckets.merge(bucket_id("one"), "b0000000")
    with pytest.raises(KeyError):
        buckets.merge("b0000000", bucket_id("one"))


def test_what_was_split_stays_split(tmp_path):
    buckets = Buckets(tmp_path)
    buckets.add(found("1"))
    buckets.add(found("2"))
    own = buckets.split(found("2"))
    again = Buckets(tmp_path)
    assert again.of(found("2")) == own != again.of(found("1"))
    assert again.all[own].members == ["2"]
    assert again.all[again.of(found("1"))].members == ["1"]
    assert again.add(found("2"))
    assert again.all[own].count == 1


def test_a_bucket_that_loses_its_last_finding_is_gone(tmp_path):
    buckets = Buckets(tmp_path)
    buckets.add(found("1"))
    own = buckets.split(found("1"))
    assert list(buckets.all) == [own]
    assert buckets.split(found("1")) == own
    assert list(buckets.all) == [own]


def test_the_last_correction_counts(tmp_path):
    buckets = Buckets(tmp_path)
    buckets.add(found("1"))
    buckets.add(found("2"))
    whole = buckets.of(found("1"))
    own = buckets.split(found("2"))
    buckets.merge(whole, own)
    assert Buckets(tmp_path).of(found("2")) == whole
    assert buckets.split(found("2")) == own
    assert Buckets(tmp_path).of(found("2")) == own


@pytest.mark.parametrize("finding", [found("9"), found("9", "none such"), found("1", "")])
def test_what_is_in_no_bucket_cannot_be_split(tmp_path, finding):
    buckets = Buckets(tmp_path)
    buckets.add(found("1"))
    with pytest.raises(KeyError):
        buckets.split(finding)


@pytest.mark.parametrize("content", [b"{broken", b"[1, 2]", b'{"buckets": {"b": {}}}', b"\xff\xfe", b""])
def test_a_broken_file_is_one_clear_line(tmp_path, content):
    (tmp_path / "buckets.json").write_bytes(content)
    with pytest.raises(ValueError) as caught:
        Buckets(tmp_path)
    message = str(caught.value)
    assert message.startswith(f"{tmp_path / 'buckets.json'}: cannot be read: ")
    assert "\n" not in message
    assert (tmp_path / "buckets.json").read_bytes() == content
