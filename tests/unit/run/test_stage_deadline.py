"""Deadlines of stages: waiting for a processor counts for nothing, and a process that only sleeps is a hang."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

from eqfuzz.run.processes import stage_deadline
from eqfuzz.run.processes.process_tree import family_of, seconds_in_run_queue
from eqfuzz.run.processes.stage_deadline import StageDeadline


class Clock:
    """Wall time and waiting time as the test sets them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.wall = 100.0
        self.waited = {1: 5.0}
        monkeypatch.setattr(stage_deadline.time, "monotonic", lambda: self.wall)
        monkeypatch.setattr(stage_deadline, "family_of", lambda pid: set(self.waited))
        monkeypatch.setattr(stage_deadline, "seconds_in_run_queue", lambda pid: self.waited[pid])


@pytest.fixture
def clock(monkeypatch):
    return Clock(monkeypatch)


def test_stage_of_an_idle_process_ends_after_its_seconds(clock):
    deadline = StageDeadline(30.0, pid=1)
    clock.wall += 29
    assert not deadline.has_passed()
    assert deadline.left() == 1
    clock.wall += 2
    assert deadline.has_passed()
    assert deadline.left() == 0


def test_waiting_for_a_processor_postpones_the_deadline(clock):
    deadline = StageDeadline(30.0, pid=1)
    clock.waited[2] = 0.0
    clock.wall += 20
    clock.waited.update({1: 15.0, 2: 8.0})
    assert not deadline.has_passed()
    del clock.waited[2]
    clock.wall += 20
    assert not deadline.has_passed()
    assert deadline.left() == 8
    clock.wall += 9
    assert deadline.has_passed()


def test_next_stage_does_not_inherit_what_an_earlier_one_waited(clock):
    deadline = StageDeadline(30.0, pid=1)
    clock.wall += 20
    clock.waited[1] += 20
    deadline.enter(10.0)
    clock.wall += 11
    assert deadline.has_passed()


def test_postponements_are_limited(clock):
    deadline = StageDeadline(2.0, pid=1)
    for _ in range(100):
        clock.wall += 1
        clock.waited[1] += 5
        if deadline.has_passed():
            break
    assert 20 <= clock.wall - 100 <= 24


def test_processes_on_one_core_wait_for_each_other():
    core = min(os.sched_getaffinity(0))
    spin = f"import os\nos.sched_setaffinity(0, {{{core}}})\nwhile True: pass"
    spinners = [subprocess.Popen([sys.executable, "-c", spin]) for _ in range(3)]
    try:
        assert {spinner.pid for spinner in spinners} <= family_of(os.getpid())
        end = time.monotonic() + 30
        while time.monotonic() < end and min(seconds_in_run_queue(spinner.pid) for spinner in spinners) < 0.1:
            time.sleep(0.05)
        assert min(seconds_in_run_queue(spinner.pid) for spinner in spinners) >= 0.1
    finally:
        for spinner in spinners:
            spinner.kill()
            spinner.wait()
    assert seconds_in_run_queue(spinners[0].pid) == 0.0
