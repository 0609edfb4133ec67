"""Speed: equivalent programs timed against each other and each against itself, and steady slowness of a compiled one.

Programs are timed in turn within one process, so that whatever else the machine does slows all of them.
"""

from __future__ import annotations

import contextlib
import dataclasses
import fractions
import gc
import math
import statistics
import time
from collections.abc import Callable, Iterator, Sequence

from eqfuzz.oracle.compare.verdict import Evidence, Verdict, VerdictKind
from eqfuzz.oracle.thresholds import THRESHOLDS

Clock = Callable[[], float]

_BLOCK_SECONDS = 2e-3
"""A callable is repeated until a block takes this long: far above the clock's resolution."""

_SECONDS = 0.3
"""For one measurement of two callables."""

_LEAST_ROUNDS = 6
"""However slow the callables are: the least and the largest of so few enclose the median with a confidence of 95 %."""

_MISSES = fractions.Fraction(25, 1000)
"""The probability that the median lies below an interval, and that it lies above."""

_MOST_CALLS = 1 << 20
"""Calls in one block, for callables that take no time on the clock given."""

_REMEASURED = 3
"""Times as long as the first measurement, before a variant is reported as slow."""


@dataclasses.dataclass(frozen=True)
class Interval:
    """A median, and bounds that enclose that of all possible measurements with a confidence of 95 %."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Interval:
        """From the order of the values alone (the sign test): their distribution does not matter."""
        ordered = sorted(values)
        outside = _values_outside(len(ordered))
        return cls(statistics.median(ordered), ordered[outside], ordered[-1 - outside])


@dataclasses.dataclass(frozen=True)
class Timing:
    """Median seconds per call of two callables, and their ratio.

    Attributes:
        ratio: The median over the rounds of second ÷ first.
        steady: The ratio that at least three rounds out of four exceed.
        noise: The factor by which the first differs from itself within a round, at most, in nine rounds out of ten.
    """

    first_seconds: float
    second_seconds: float
    ratio: float
    steady: float
    noise: float
    rounds: int

    def is_slow(self, limit: float) -> bool:
        """Whether the second is steadily slower than ``limit`` times the first, and than noise explains."""
        return self.steady > max(limit, self.noise)


@dataclasses.dataclass(frozen=True)
class TimeSamples:
    """Seconds per call of several callables: ``rounds[i][j]`` are the two blocks of callable ``j`` in round ``i``."""

    rounds: tuple[tuple[tuple[float, float], ...], ...]

    def seconds(self, index: int) -> Interval:
        """Of one callable."""
        return Interval.of([sum(blocks[index]) / 2 for blocks in self.rounds])

    def ratio(self, first: int, second: int) -> Interval:
        """Of the second callable to the first, round by round."""
        return Interval.of(self._ratios(first, second))

    def timing(self, first: int, second: int) -> Timing:
        """Two of the callables."""
        ratios = sorted(self._ratios(first, second))
        against_itself = sorted(abs(math.log(after / before)) for before, after in (r[first] for r in self.rounds))
        return Timing(
            first_seconds=statistics.median(block for blocks in self.rounds for block in blocks[first]),
            second_seconds=statistics.median(block for blocks in self.rounds for block in blocks[second]),
            ratio=statistics.median(ratios),
            steady=ratios[len(ratios) // 4],
            noise=math.exp(against_itself[math.ceil(0.9 * len(against_itself)) - 1]),
            rounds=len(self.rounds),
        )

    def _ratios(self, first: int, second: int) -> list[float]:
        return [sum(blocks[second]) / sum(blocks[first]) for blocks in self.rounds]


def take_samples(
    functions: Sequence[Callable[[], object]], *, seconds: float, clock: Clock = time.perf_counter
) -> TimeSamples:
    """Time all for about ``seconds`` in total, in rounds of first, second, …, second, first.

    The order cancels drift of the machine's speed. Garbage is collected before, not during. Raises what the callables
    raise.
    """
    with _no_garbage_collection():
        calls = [_calls_per_block(function, clock) for function in functions]
        rounds: list[tuple[tuple[float, float], ...]] = []
        began = clock()
        while len(rounds) < _LEAST_ROUNDS or clock() - began < seconds:
            there = [_block(function, n, clock) for function, n in zip(functions, calls, strict=True)]
            back = [_block(function, n, clock) for function, n in zip(functions[::-1], calls[::-1], strict=True)]
            rounds.append(tuple(zip(there, back[::-1], strict=True)))
    return TimeSamples(tuple(rounds))


def measure(
    first: Callable[[], object],
    second: Callable[[], object],
    *,
    seconds: float = _SECONDS,
    clock: Clock = time.perf_counter,
) -> Timing:
    """Time both as ``take_samples`` does."""
    return take_samples([first, second], seconds=seconds, clock=clock).timing(0, 1)


def judge_speed(
    original: Callable[[], object],
    variant: Callable[[], object],
    *,
    limit: float = THRESHOLDS.slow_ratio,
    seconds: float = _SECONDS,
    clock: Clock = time.perf_counter,
    earlier: Timing | None = None,
) -> Verdict | None:
    """A verdict if the compiled ``variant`` is steadily slower than ``limit`` times its compiled ``original``.

    Both are called without arguments and must be compiled already. A variant that looks slow, also in an ``earlier``
    measurement if there is one, is measured again, three times as long; the verdict has the numbers of the second
    measurement.
    """
    if not (earlier or measure(original, variant, seconds=seconds, clock=clock)).is_slow(limit):
        return None
    timing = measure(original, variant, seconds=_REMEASURED * seconds, clock=clock)
    if not timing.is_slow(limit):
        return None
    message = (
        f"the compiled variant takes {time_in_words(timing.second_seconds)} per call and its compiled original "
        f"{time_in_words(timing.first_seconds)}: {timing.ratio:.1f} times as long, at least {timing.steady:.1f} times "
        f"in three quarters of {timing.rounds} rounds; {limit:g} times is allowed, and the original differs from "
        f"itself by a factor of {timing.noise:.2f}"
    )
    evidence = Evidence(
        path="seconds per call",
        reference=timing.first_seconds,
        compiled=timing.second_seconds,
        allowed=limit * timing.first_seconds,
    )
    return Verdict(VerdictKind.SLOW, message, evidence)


def _calls_per_block(function: Callable[[], object], clock: Clock) -> int:
    function()
    calls = 1
    while (elapsed := calls * _block(function, calls, clock)) < _BLOCK_SECONDS and calls < _MOST_CALLS:
        calls *= 2 if elapsed <= 0 else min(max(2, math.ceil(_BLOCK_SECONDS / elapsed)), 64)
    return calls


def _block(function: Callable[[], object], calls: int, clock: Clock) -> float:
    """Seconds per call."""
    began = clock()
    for _ in range(calls):
        function()
    return (clock() - began) / calls


@contextlib.contextmanager
def _no_garbage_collection() -> Iterator[None]:
    was_enabled = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _values_outside(count: int) -> int:
    """How many of ``count`` values at each end are outside the interval of the median; 0 where all are too few."""
    outside, sequences = 0, 1  # of the 2 ** count sequences of values below and above the median: those that miss it
    while True:
        sequences += math.comb(count, outside + 1)
        if sequences > 2**count * _MISSES:
            return outside
        outside += 1


def time_in_words(seconds: float) -> str:
    """``3.2 s``, ``4.1 ms``, ``12.5 µs``."""
    unit, size = unit_of(seconds)
    return f"{seconds / size:.3g} {unit}"


def unit_of(seconds: float) -> tuple[str, float]:
    """The unit that a time is written in, and its seconds."""
    return next((unit for unit in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)) if seconds >= unit[1]), ("ns", 1e-9))
