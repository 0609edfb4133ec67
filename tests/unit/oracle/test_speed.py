"""Steady slowness, on a clock that only the timed callables advance."""

import gc
import random

import pytest

from eqfuzz.oracle.compare.speed import judge_speed, measure
from eqfuzz.oracle.compare.verdict import Verdict, VerdictKind

pytestmark = pytest.mark.slow


class Machine:
    """A clock, and callables that advance it: ``slowness(now)`` multiplies the seconds of each call."""

    def __init__(self, slowness=lambda now: 1.0):
        self.now = 0.0
        self.calls = []
        self.slowness = slowness

    def clock(self):
        return self.now

    def program(self, name, seconds):
        def run():
            self.calls.append(name)
            self.now += seconds * self.slowness(self.now)

        return run


def timed(first, second, slowness=lambda now: 1.0):
    machine = Machine(slowness)
    return measure(machine.program("a", first), machine.program("b", second), clock=machine.clock), machine


def judged(first, second, slowness=lambda now: 1.0, **options):
    machine = Machine(slowness)
    return judge_speed(machine.program("a", first), machine.program("b", second), clock=machine.clock, **options)


@pytest.mark.parametrize("seconds", [3e-7, 2e-5, 4e-3, 2.0])
def test_the_ratio_does_not_depend_on_the_scale(seconds):
    timing, _ = timed(seconds, 3 * seconds)
    assert timing.ratio == pytest.approx(3)
    assert timing.steady == pytest.approx(3)
    assert timing.noise == pytest.approx(1, abs=1e-6)
    assert timing.first_seconds == pytest.approx(seconds)
    assert timing.second_seconds == pytest.approx(3 * seconds)


def test_blocks_are_long_enough_and_interleaved():
    _, machine = timed(1e-4, 4e-4)
    # Without the search for the size of a block: rounds of A B B A, where neighbours join.
    text = "".join(machine.calls)
    runs = [len(run) for run in text.replace("ab", "a b").replace("ba", "b a").split()][4:-1]
    assert min(runs) >= 10
    assert text[-1] == "a"
    assert {run for run in runs if run < 20} == {10}
    assert 40 in runs
    assert 0.3 <= machine.now < 0.5


def test_a_slow_program_is_measured_a_few_times_only():
    timing, machine = timed(2.0, 2.0)
    assert timing.rounds == 5
    assert len(machine.calls) < 30


def test_slower_variant_is_reported_with_its_numbers():
    verdict = judged(1e-3, 2.5e-3)
    assert verdict is not None
    assert verdict.kind is VerdictKind.SLOW
    assert not verdict.is_finding
    assert "2.5 ms per call and its compiled original 1 ms: 2.5 times as long" in verdict.message
    assert verdict.evidence.reference == pytest.approx(1e-3)
    assert verdict.evidence.compiled == pytest.approx(2.5e-3)
    assert verdict.evidence.allowed == pytest.approx(2e-3)
    assert Verdict.from_json(verdict.to_json()) == verdict


def test_variant_within_the_limit_is_not_reported():
    assert judged(1e-3, 1.9e-3) is None
    assert judged(1e-3, 1e-4) is None
    assert judged(1e-3, 2.5e-3, limit=3.0) is None
    assert judged(1e-3, 1.9e-3, limit=1.5) is not None


def test_drift_cancels():
    assert judged(1e-3, 1e-3, lambda now: 1 + 5 * now) is None
    timing, _ = timed(1e-3, 1e-3, lambda now: 1 + 5 * now)
    assert timing.ratio == pytest.approx(1, rel=0.02)


@pytest.mark.long
def test_slowness_within_noise_is_not_reported():
    def noisy(seed):
        draw = random.Random(seed)
        return lambda now: draw.choice([1, 40])

    # Single slow calls average out in blocks; whole slow blocks do not, and are seen as noise.
    for seed in range(3):  # each measurement collects all garbage of the process
        assert judged(5e-3, 5e-3, noisy(seed)) is None
        assert judged(5e-3, 1.2e-2, noisy(seed)) is None
        assert judged(5e-3, 100.0, noisy(seed)) is not None


def test_temporary_disturbance_is_not_reported():
    assert judged(1e-3, 1.1e-3, lambda now: 30.0 if 0.05 < now < 0.1 else 1.0) is None
    calls = []

    def variant():
        calls.append(1)
        machine.now += 3e-3 if len(calls) < 200 else 1e-3

    machine = Machine()
    assert judge_speed(machine.program("a", 1e-3), variant, clock=machine.clock) is None
    assert len(calls) > 200


def test_garbage_collection_is_disabled_while_timing():
    states = []
    machine = Machine()
    one = machine.program("a", 1e-3)
    measure(lambda: (states.append(gc.isenabled()), one()), one, clock=machine.clock)
    assert not any(states)
    assert gc.isenabled()
    gc.disable()
    try:
        measure(one, one, clock=machine.clock)
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_exceptions_of_a_program_are_raised():
    def broken():
        raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        measure(broken, lambda: None)
    assert gc.isenabled()
