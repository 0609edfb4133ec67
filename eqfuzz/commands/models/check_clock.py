"""The time limit of a check."""

from __future__ import annotations

import dataclasses
import math
import time
from typing import Any

from eqfuzz.mutate.settings import Settings


class CheckClock:
    """The time of the whole check; ``seconds`` is None without a limit."""

    def __init__(self, seconds: float | None) -> None:
        self._end = None if seconds is None else time.monotonic() + seconds

    @property
    def is_over(self) -> bool:
        return self._end is not None and time.monotonic() >= self._end

    def settings(self, settings: Settings, *, longest: float = math.inf, **changes: Any) -> Settings:
        """The settings of a run that ends with the check, and after ``longest`` seconds."""
        seconds = self.left(longest)
        return dataclasses.replace(settings, time=None if seconds == math.inf else seconds, **changes)

    def left(self, longest: float) -> float:
        """Seconds until the check ends, at most ``longest``."""
        return longest if self._end is None else min(longest, max(1.0, self._end - time.monotonic()))

    def half(self) -> CheckClock:
        """The clock of a part that may take half of the time that is left."""
        return CheckClock(None if self._end is None else (self._end - time.monotonic()) / 2)
