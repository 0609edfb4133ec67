"""A count of buckets that was cut off goes on."""

from tests.quality.buckets import Journal


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
