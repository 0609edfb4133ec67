"""When a stage of a process must have ended. A busy machine is no hang: waiting for a processor does not count."""

from __future__ import annotations

import time

from eqfuzz.run.processes.process_tree import family_of, seconds_in_run_queue

_MOST = 10.0
"""A stage gets at most so many times its seconds in addition, since several waiting processes are counted each."""

_LEAST = 0.2
"""Wall seconds of waiting that are worth a later deadline."""


class StageDeadline:
    """The deadline of the current stage of process ``pid`` with all its descendants; None: only wall time counts."""

    def __init__(self, seconds: float, pid: int | None = None) -> None:
        self.pid = pid
        self._waiting: dict[int, float] = {}
        self.enter(seconds)

    def enter(self, seconds: float) -> None:
        """A stage of at most so many seconds begins, in which waiting for a processor is not counted."""
        self.seconds = seconds
        self._end = time.monotonic() + seconds
        self._waited_before = self._waited()
        self._granted = 0.0

    def postpone(self, seconds: float) -> None:
        """Wall time that another process has used."""
        self._end += seconds

    def left(self) -> float:
        """Wall seconds, at least 0."""
        return max(0.0, self._end - time.monotonic())

    def has_passed(self) -> bool:
        """Whether the stage has used its seconds. To be called about once a second, lest waiting is overlooked."""
        waited = min(self._waited() - self._waited_before, _MOST * self.seconds)
        if time.monotonic() <= self._end:
            return False
        if waited - self._granted < _LEAST:
            return True
        self._end += waited - self._granted
        self._granted = waited
        return False

    def _waited(self) -> float:
        """Wall seconds in which members of the family, those that have ended included, waited for a processor."""
        if self.pid is not None:
            for member in family_of(self.pid):
                self._waiting[member] = max(self._waiting.get(member, 0.0), seconds_in_run_queue(member))
        return sum(self._waiting.values())
