"""Wall time by step."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Mapping


class StepTimer:
    """Adds the wall seconds of steps to ``before``; what a step inside another one takes counts for the inner only."""

    def __init__(self, before: Mapping[str, float] | None = None) -> None:
        self.seconds = dict(before or {})
        """By step, in the order in which the steps were first completed."""
        self._inner = 0.0

    @contextlib.contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Measure the block as a part of the step ``name``, also where it raises."""
        began, outer, self._inner = time.perf_counter(), self._inner, 0.0
        try:
            yield
        finally:
            spent = time.perf_counter() - began
            self.seconds[name] = self.seconds.get(name, 0.0) + spent - self._inner
            self._inner = outer + spent
