"""CPU seconds of a job are counted by stage."""

import os
import random
import time

from eqfuzz.run.jobs import stage_timer
from eqfuzz.run.jobs.stage_timer import COMPILER, StageTimer
from eqfuzz.run.messages.job import StageEntered


def burn(seconds: float) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        sum(range(1000))


def fork_and_burn(seconds: float) -> None:
    pid = os.fork()
    if pid == 0:
        burn(seconds)
        os._exit(0)
    os.waitpid(pid, 0)


def test_a_stage_is_announced_with_its_limit_and_place() -> None:
    events = []
    StageTimer(events.append).enter("eager", 2.5, variant=3)
    assert events == [StageEntered(stage="eager", seconds=2.5, variant=3)]


def test_time_counts_once_for_the_innermost_stage() -> None:
    clock = StageTimer(lambda event: None)
    clock.enter("eager", 1)
    burn(0.02)
    with clock.within("judge"):
        burn(0.06)
    burn(0.02)
    clock.enter("end", 1)
    account = clock.account()
    assert account["eager"] >= 0.04
    assert account["judge"] >= 0.06
    assert account["eager"] < account["judge"]


def test_child_processes_count_for_the_compiler() -> None:
    clock = StageTimer(lambda event: None)
    clock.enter("compile", 1)
    fork_and_burn(0.05)
    account = clock.account()
    assert account[COMPILER] >= 0.05 > account["compile"]


def test_times_of_a_child_are_added_and_the_rest_counts_for_the_fork() -> None:
    clock = StageTimer(lambda event: None)
    clock.enter("fork", 1)
    fork_and_burn(0.1)
    clock.forked({"compile": 0.03, "judge": 0.01})
    fork_and_burn(0.05)
    clock.forked({}, rest=COMPILER)
    account = clock.account()
    assert (account["compile"], account["judge"]) == (0.03, 0.01)
    assert account[COMPILER] >= 0.05
    assert account["fork"] >= 0.05


def test_no_stage_has_a_negative_time_by_rounding(monkeypatch) -> None:
    rng = random.Random(0)
    for _ in range(200):
        times = sorted(rng.uniform(0, 900) for _ in range(2))
        monkeypatch.setattr(stage_timer, "_of_children", iter([*times, times[1]]).__next__)
        clock = StageTimer(lambda event: None)
        clock.forked({})
        assert clock.account()[COMPILER] == 0
