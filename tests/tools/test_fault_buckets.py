"""Bucket measurements resume from their journal and begin with seeds that reach the fault."""

import re

import pytest

from eqfuzz.program.shipped import folder
from tools.fault_detection.buckets import FREQUENT, BucketJournal, likely_first


@pytest.mark.parametrize("fault", sorted(FREQUENT.glob("*.py")), ids=lambda path: path.stem)
def test_seeds_that_reach_the_fault_come_first(fault):
    names = likely_first(fault, 0)
    assert names == likely_first(fault, 0) != likely_first(fault, 1)
    assert sorted(names) == sorted(likely_first(fault, 1))
    (pattern,) = re.findall(r'^MET_BY = r"(.+)"$', fault.read_text(), re.MULTILINE)
    meets = [re.search(pattern, (folder("seeds") / name).read_text()) is not None for name in names]
    assert sum(meets) >= 10
    assert meets == sorted(meets, reverse=True)
    assert not all(meets)


def test_journal_gives_fingerprints_by_seed(tmp_path):
    file = tmp_path / "buckets.jsonl"
    journal = BucketJournal(file)
    assert journal.fingerprints("one") == {}
    journal.add("one", "a.py", ["values · Inductor", "values · Inductor"])
    journal.add("two", "a.py", [])
    with file.open("a") as cut_off:
        cut_off.write('\n{"fault": "one", "se')
    journal.add("one", "b.py", [])
    assert journal.fingerprints("one") == {"a.py": ["values · Inductor", "values · Inductor"], "b.py": []}
    assert journal.fingerprints("two") == {"a.py": []}


def test_without_a_file_nothing_is_stored():
    journal = BucketJournal(None)
    journal.add("one", "a.py", ["values · Inductor"])
    assert journal.fingerprints("one") == {}
