"""A count of buckets that was cut off goes on, and begins with the seeds that meet the fault."""

import pytest

from eqfuzz.program.shipped import folder
from tests.quality.buckets import FREQUENT, Journal, likely_first


@pytest.mark.parametrize("fault", sorted(FREQUENT.glob("*.py")), ids=lambda path: path.stem)
def test_each_fault_is_met_by_many_seeds_and_they_come_first(fault):
    names = likely_first(fault, 0)
    assert names == likely_first(fault, 0) != likely_first(fault, 1)
    assert sorted(names) == sorted(likely_first(fault, 1)) and len(names) > 100
    if fault.stem == "where_is_a_bit_more":
        texts = ["where(" in (folder("seeds") / name).read_text() for name in names]
        assert all(texts[:20]) and not any(texts[-60:])


def test_seeds_that_are_through_are_remembered(tmp_path):
    file = tmp_path / "buckets.jsonl"
    journal = Journal(file)
    assert journal.of("one") == {}
    journal.add("one", "a.py", ["values · Inductor", "values · Inductor"])
    journal.add("two", "a.py", [])
    with file.open("a") as cut_off:
        cut_off.write('\n{"fault": "one", "se')
    journal.add("one", "b.py", [])
    assert journal.of("one") == {"a.py": ["values · Inductor", "values · Inductor"], "b.py": []}
    assert journal.of("two") == {"a.py": []}


def test_without_a_file_nothing_is_kept():
    journal = Journal(None)
    journal.add("one", "a.py", ["values · Inductor"])
    assert journal.of("one") == {}
