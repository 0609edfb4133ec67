"""Steady slowness: two equivalent compiled programs, timed against each other and each against itself."""

from __future__ import annotations

import contextlib
import dataclasses
import gc
import math
import statistics
import time
from collections.abc import Callable, Iterator

from eqfuzz.oracle.compare.verdict import Evidence, Verdict, VerdictKind
from eqfuzz.oracle.thresholds import THRESHOLDS

Clock = Callable[[], float]

_BLOCK_SECONDS = 2e-3
"""A callable is repeated until a block takes this long: far above the clock's resolution."""

_SECONDS = 0.3
"""For one measurement of two callables."""

_LEAST_ROUNDS = 5
"""However slow the callables are: with fewer rounds three out of four say little."""

_MOST_CALLS = 1 << 20
"""Calls in one block, for callables that take no time on the clock given."""

_REMEASURED = 3
"""Times as long as the first measurement, before a variant is reported as slow."""


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


def measure(
    first: Callable[[], object],
    second: Callable[[], object],
    *,
    seconds: float = _SECONDS,
    clock: Clock = time.perf_counter,
) -> Timing:
    """Time both for about ``seconds`` in total, in rounds of first, second, second, first.

    The order cancels drift of the machine's speed. Garbage is collected before, not during. Raises what the callables
    raise.
    """
    with _no_garbage_collection():
        calls = [_calls_per_block(function, clock) for function in (first, second)]
        rounds: list[tuple[float, float, float, float]] = []
        began = clock()
        while len(rounds) < _LEAST_ROUNDS or clock() - began < seconds:
            before = _block(first, calls[0], clock)
            inner = _block(second, calls[1], clock), _block(second, calls[1], clock)
            rounds.append((before, *inner, _block(first, calls[0], clock)))
    ratios = sorted((b + c) / (a + d) for a, b, c, d in rounds)
    against_itself = sorted(abs(math.log(d / a)) for a, _, _, d in rounds)
    return Timing(
        first_seconds=statistics.median(x for a, _, _, d in rounds for x in (a, d)),
        second_seconds=statistics.median(x for _, b, c, _ in rounds for x in (b, c)),
        ratio=statistics.median(ratios),
        steady=ratios[len(ratios) // 4],
        noise=math.exp(against_itself[math.ceil(0.9 * len(against_itself)) - 1]),
        rounds=len(rounds),
    )


def judge_speed(
    original: Callable[[], object],
    variant: Callable[[], object],
    *,
    limit: float = THRESHOLDS.slow_ratio,
    seconds: float = _SECONDS,
    clock: Clock = time.perf_counter,
) -> Verdict | None:
    """A verdict if the compiled ``variant`` is steadily slower than ``limit`` times its compiled ``original``.

    Both are called without arguments and must be compiled already. A variant that looks slow is measured again, three
    times as long; the verdict has the numbers of the second measurement.
    """
    if not measure(original, variant, seconds=seconds, clock=clock).is_slow(limit):
        return None
    timing = measure(original, variant, seconds=_REMEASURED * seconds, clock=clock)
    if not timing.is_slow(limit):
        return None
    message = (
        f"the compiled variant takes {_plain(timing.second_seconds)} per call and its compiled original "
        f"{_plain(timing.first_seconds)}: {timing.ratio:.1f} times as long, at least {timing.steady:.1f} times in "
        f"three quarters of {timing.rounds} rounds; {limit:g} times is allowed, and the original differs from itself "
        f"by a factor of {timing.noise:.2f}"
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


def _plain(seconds: float) -> str:
    """``3.2 s``, ``4.1 ms``, ``12.5 µs``."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"
