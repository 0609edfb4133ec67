"""Steady slowness, on a clock that only the timed callables advance."""

import gc
import math
import random

import pytest

from eqfuzz.oracle.compare.speed import Interval, Timing, judge_speed, measure, take_samples
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
    assert timing.rounds == 6
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


def test_several_programs_are_timed_in_turn_there_and_back():
    machine = Machine()
    functions = [machine.program(name, seconds) for name, seconds in (("a", 1.0), ("b", 2.0), ("c", 6.0))]
    samples = take_samples(functions, seconds=1.0, clock=machine.clock)
    assert "".join(machine.calls)[-6:] == "abccba"
    assert [samples.seconds(i).median for i in range(3)] == pytest.approx([1, 2, 6])
    assert samples.ratio(1, 2) == Interval(3, 3, 3)
    assert samples.timing(1, 2).ratio == pytest.approx(3)


def test_interval_of_ten_thousand_measurements_has_the_expected_ranks():
    interval = Interval.of([float(n) for n in range(10_001)])
    assert (interval.low, interval.median, interval.high) == (4901, 5000, 5099)


@pytest.mark.parametrize("count", [6, 7, 20, 61, 400])
def test_interval_encloses_the_median_with_the_stated_confidence(count):
    draw = random.Random(count)
    intervals = [Interval.of([draw.expovariate(1.0) for _ in range(count)]) for _ in range(2000)]
    share = sum(i.low <= math.log(2) <= i.high for i in intervals) / len(intervals)
    assert share > 0.935
    assert count < 20 or share < 0.985
    assert all(i.low <= i.median <= i.high for i in intervals)


def test_earlier_measurement_is_not_repeated_unless_it_is_slow():
    quick, slow = (Timing(1.0, ratio, ratio, ratio, 1.0, 9) for ratio in (1.0, 5.0))
    machine = Machine()
    a, b = machine.program("a", 1e-3), machine.program("b", 3e-3)
    assert judge_speed(a, b, clock=machine.clock, earlier=quick) is None
    assert machine.calls == []
    assert judge_speed(a, a, clock=machine.clock, earlier=slow) is None
    verdict = judge_speed(a, b, clock=machine.clock, earlier=slow)
    assert verdict is not None
    assert "3.0 times as long" in verdict.message
