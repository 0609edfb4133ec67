"""Where the time of a case goes: each stage is announced before it begins, and what it used is kept."""

from __future__ import annotations

import contextlib
import resource
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

Emit = Callable[[dict[str, Any]], None]

COMPILER = "g++"
"""The stage that the programs started in a process count for: it starts no others."""


class StageTimer:
    """CPU seconds by stage, this process's own; what its children use counts for ``COMPILER``.

    ``enter`` tells the parent, who enforces the limit. ``forked`` takes the account of a child that kept its own.
    """

    def __init__(self, emit: Emit) -> None:
        self.spent: defaultdict[str, float] = defaultdict(float)
        self.announce = emit
        self._stage = "start"
        self._since = time.process_time()
        self._children = _of_children()

    def enter(self, stage: str, seconds: float, **where: Any) -> None:
        """``stage`` comes next and may take so many wall seconds; ``where`` goes with the event."""
        self._change(stage)
        self.announce({"event": "stage", "stage": stage, "seconds": seconds, **where})

    @contextlib.contextmanager
    def within(self, stage: str) -> Iterator[None]:
        """What is done inside counts for ``stage``; the limit stays that of the one entered."""
        outer = self._stage
        self._change(stage)
        try:
            yield
        finally:
            self._change(outer)

    def forked(self, account: dict[str, float], *, rest: str = "fork") -> None:
        """A child has ended, and has been waited for, that used ``account``; what is not in there is the ``rest``."""
        total = _of_children() - self._children
        self._children += total
        for stage, seconds in account.items():
            self.spent[stage] += seconds
        self.spent[rest] += max(0.0, total - sum(account.values()))

    def account(self) -> dict[str, float]:
        """Everything up to now, by stage."""
        self._change(self._stage)
        return dict(self.spent)

    def _change(self, stage: str) -> None:
        now, children = time.process_time(), _of_children()
        self.spent[self._stage] += now - self._since
        self.spent[COMPILER] += children - self._children
        self._stage, self._since, self._children = stage, now, children


def _of_children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
