"""CPU time of a job by stage; each stage is announced before it begins."""

from __future__ import annotations

import contextlib
import resource
import time
from collections import defaultdict
from collections.abc import Generator

from eqfuzz.run.messages.job import Emit, StageEntered

COMPILER = "g++"
"""The stage that programs started by a process count for: it starts no others."""


class StageTimer:
    """CPU seconds of this process by stage; those of its children count for ``COMPILER``.

    ``enter`` announces a stage to the parent, which enforces the time limit. ``forked`` adds the account of a child
    that has a timer of its own.
    """

    def __init__(self, emit: Emit) -> None:
        self.spent: defaultdict[str, float] = defaultdict(float)
        self.announce = emit
        self._stage = "start"
        self._since = time.process_time()
        self._children = _of_children()

    def enter(self, stage: str, seconds: float, variant: int = 0, device: str = "", config: str = "") -> None:
        """Enter ``stage``, which may take so many wall seconds, and announce it with the cell that it is about."""
        self._change(stage)
        self.announce(StageEntered(stage=stage, seconds=seconds, variant=variant, device=device, config=config))

    @contextlib.contextmanager
    def within(self, stage: str) -> Generator[None]:
        """Context in which time counts for ``stage``; the limit stays that of the stage entered."""
        outer = self._stage
        self._change(stage)
        try:
            yield
        finally:
            self._change(outer)

    def forked(self, account: dict[str, float], *, rest: str = "fork") -> None:
        """Add the ``account`` of a child that has ended; its other CPU time counts for ``rest``."""
        children = _of_children()
        total, self._children = children - self._children, children
        for stage, seconds in account.items():
            self.spent[stage] += seconds
        self.spent[rest] += max(0.0, total - sum(account.values()))

    def account(self) -> dict[str, float]:
        """CPU seconds up to now, by stage."""
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
