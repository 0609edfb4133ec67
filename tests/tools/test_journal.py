"""What was hunted before is not hunted again."""

from __future__ import annotations

import dataclasses

from eqfuzz.program.release import Release
from tools.fault_detection.fault import read_faults
from tools.fault_detection.hunt import Catch, Hunt
from tools.fault_detection.journal import Journal
from tools.fault_detection.triaged import Triaged


def test_hunts_are_read_again(tmp_path):
    one, two, three = read_faults()[:3]
    catch = Catch("wrong-result", "a.py", "inductor", ["forms/add"], "programs", "Inductor")
    triaged = Triaged("Inductor", "Inductor, lowerings", ("Inductor",), 2, 0, fails=True, passes=True, seconds=3.0)
    found = Hunt(one, catch, 12, 34.5, 1, triaged=triaged)
    missed = Hunt(two, None, 40, 130.0, 0, "out of time")
    journal = Journal(tmp_path / "hunts.jsonl")
    assert journal.hunts([one]) == []
    for hunt in (dataclasses.replace(found, cells=1), found, missed, Hunt(three, None, 1, 1.0, 0)):
        journal.add(hunt)
    with (tmp_path / "hunts.jsonl").open("a") as file:
        file.write('\n{"fault": "cut o')
    assert journal.hunts([one, two]) == [found, missed]
    journal.add(dataclasses.replace(missed, cells=41))
    assert journal.hunts([one, two]) == [found, dataclasses.replace(missed, cells=41)]


def test_a_hunt_that_is_not_through_is_made_again_and_its_time_counts(tmp_path):
    one, two = read_faults()[:2]
    journal = Journal(tmp_path / "hunts.jsonl")
    journal.add(Hunt(one, None, 12, 30.0, 0), is_through=False)
    journal.add(Hunt(two, None, 12, 20.0, 0), is_through=False)
    journal.add(Hunt(two, None, 30, 70.0, 0))
    assert [hunt.name for hunt in journal.hunts([one, two])] == [two.name]
    assert journal.seconds([one, two]) == 100.0
    assert journal.seconds([one]) == 30.0


def test_what_was_hunted_on_another_release_is_hunted_again(tmp_path, monkeypatch):
    one = read_faults()[0]
    journal = Journal(tmp_path / "hunts.jsonl")
    journal.add(Hunt(one, None, 12, 30.0, 0))
    monkeypatch.setattr("tools.fault_detection.journal.this_release", lambda: Release("2.99.0", "cpu"))
    assert journal.hunts([one]) == []
    assert journal.seconds([one]) == 0


def test_without_a_file_nothing_is_kept():
    journal = Journal(None)
    journal.add(Hunt(read_faults()[0], None, 1, 1.0, 0))
    assert journal.hunts(read_faults()) == []
