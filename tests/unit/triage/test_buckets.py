"""Buckets: a few findings of each defect are kept, and what was corrected by hand is remembered."""

import re
from concurrent.futures import ThreadPoolExecutor

import pytest

from eqfuzz.triage.findings.buckets import KEPT, Bucket, Buckets, bucket_id
from tests.unit.triage.findings import finding_of


def numbered(id, fingerprint="values · amin"):
    return finding_of(id=id, fingerprint=fingerprint)


def test_five_findings_keep_their_folders_and_further_ones_are_counted(tmp_path):
    buckets = Buckets(tmp_path)
    assert [buckets.add(numbered(str(number))) for number in range(8)] == [True] * KEPT + [False] * 3
    again = Buckets(tmp_path)
    (bucket,) = again.all.values()
    assert bucket == Bucket(fingerprint="values · amin", members=list("01234"), dropped=list("567"))
    assert bucket.count == 8


def test_the_same_finding_counts_once(tmp_path):
    buckets = Buckets(tmp_path)
    for _ in range(2):
        has_folder = [buckets.add(numbered(str(number))) for number in range(6)]
        assert has_folder == [True] * 5 + [False]
    (bucket,) = buckets.all.values()
    assert bucket.count == 6


def test_two_writers_of_one_folder_keep_each_others_findings(tmp_path):
    one, other = Buckets(tmp_path), Buckets(tmp_path)
    has_folder = [
        buckets.add(numbered(str(number))) for number, buckets in enumerate([one, other, one, other, one, other])
    ]
    assert has_folder == [True] * KEPT + [False]
    (bucket,) = Buckets(tmp_path).all.values()
    assert bucket == Bucket(fingerprint="values · amin", members=list("01234"), dropped=["5"])


def test_concurrent_writers_of_one_folder_lose_no_finding(tmp_path):
    def sort(worker):
        buckets = Buckets(tmp_path)
        for number in range(40):
            buckets.add(numbered(f"{worker}-{number}"))

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(sort, range(4)))
    (bucket,) = Buckets(tmp_path).all.values()
    assert bucket.count == 160


def test_unreadable_file_is_an_error(tmp_path):
    (tmp_path / "buckets.json").mkdir()
    with pytest.raises(ValueError, match="cannot be read: Is a directory"):
        Buckets(tmp_path)


def test_finding_that_is_localised_later_counts_once(tmp_path):
    buckets = Buckets(tmp_path)
    for number in range(6):
        buckets.add(numbered(str(number)))
    buckets.split(numbered("0"))
    assert buckets.add(numbered("5"))
    assert buckets.all[bucket_id("values · amin")] == Bucket(fingerprint="values · amin", members=list("12345"))


def test_finding_with_a_new_fingerprint_moves_to_another_bucket(tmp_path):
    buckets = Buckets(tmp_path)
    for finding in (numbered("a"), numbered("a", "values · amax"), numbered("b", "values · amax")):
        buckets.add(finding)
    assert {bucket.fingerprint: bucket.members for bucket in buckets.all.values()} == {"values · amax": ["a", "b"]}


def test_largest_bucket_comes_first(tmp_path):
    buckets = Buckets(tmp_path)
    for number, fingerprint in enumerate(["one", "two", "two", "three", "three", "three"]):
        buckets.add(numbered(str(number), fingerprint))
    assert [bucket.fingerprint for bucket in buckets.all.values()] == ["three", "two", "one"]


def test_ids_are_the_same_in_every_run():
    assert bucket_id("values · Inductor, lowerings: amin") == "b35766e3"
    assert re.fullmatch(r"b[0-9a-f]{7}", bucket_id(""))
    assert bucket_id("") != bucket_id(" ")


def test_merged_buckets_stay_merged(tmp_path):
    buckets = Buckets(tmp_path)
    for id, fingerprint in (("1", "one"), ("2", "two"), ("3", "three")):
        buckets.add(numbered(id, fingerprint))
    one, two, three = map(bucket_id, ("one", "two", "three"))
    buckets.merge(one, two)
    assert buckets.all[one].members == ["1", "2"]
    assert two not in buckets.all
    buckets.merge(three, one)
    again = Buckets(tmp_path)
    assert again.all[three].members == ["3", "1", "2"]
    assert list(again.all) == [three]
    assert {again.of(numbered("9", name)) for name in ("one", "two", "three")} == {three}
    again.add(numbered("4", "two"))
    assert again.all[three].members == ["3", "1", "2", "4"]


def test_bucket_merged_with_itself_is_unchanged_and_unknown_one_is_refused(tmp_path):
    buckets = Buckets(tmp_path)
    buckets.add(numbered("1", "one"))
    buckets.merge(bucket_id("one"), bucket_id("one"))
    assert buckets.all[bucket_id("one")].members == ["1"]
    with pytest.raises(KeyError):
        buckets.merge(bucket_id("one"), "b0000000")
    with pytest.raises(KeyError):
        buckets.merge("b0000000", bucket_id("one"))


def test_split_finding_stays_in_its_own_bucket(tmp_path):
    buckets = Buckets(tmp_path)
    buckets.add(numbered("1"))
    buckets.add(numbered("2"))
    own = buckets.split(numbered("2"))
    again = Buckets(tmp_path)
    assert again.of(numbered("2")) == own != again.of(numbered("1"))
    assert again.all[own].members == ["2"]
    assert again.all[again.of(numbered("1"))].members == ["1"]
    assert again.add(numbered("2"))
    assert again.all[own].count == 1


def test_bucket_without_findings_is_removed(tmp_path):
    buckets = Buckets(tmp_path)
    buckets.add(numbered("1"))
    own = buckets.split(numbered("1"))
    assert list(buckets.all) == [own]
    assert buckets.split(numbered("1")) == own
    assert list(buckets.all) == [own]


def test_last_merge_or_split_decides(tmp_path):
    buckets = Buckets(tmp_path)
    buckets.add(numbered("1"))
    buckets.add(numbered("2"))
    whole = buckets.of(numbered("1"))
    own = buckets.split(numbered("2"))
    buckets.merge(whole, own)
    assert Buckets(tmp_path).of(numbered("2")) == whole
    assert buckets.split(numbered("2")) == own
    assert Buckets(tmp_path).of(numbered("2")) == own


@pytest.mark.parametrize("finding", [numbered("9"), numbered("9", "none such"), numbered("1", "")])
def test_finding_in_no_bucket_cannot_be_split(tmp_path, finding):
    buckets = Buckets(tmp_path)
    buckets.add(numbered("1"))
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
