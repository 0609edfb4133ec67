"""Executors run the items of a campaign: here in processes of this machine, in ``ray`` on a cluster."""

from __future__ import annotations

import threading
from typing import Protocol

from eqfuzz.campaign.executors.item_runner import ItemResult, ItemRunner, WorkOrder
from eqfuzz.events.event import Handler


class ExecutorLost(Exception):
    """The worker that ran an item is gone, and the item has to be run again; ``str()`` is the reason."""


class Executor(Protocol):
    """Runs items, ``slots`` at a time; each slot is used by one thread."""

    @property
    def slots(self) -> int: ...

    def ready(self, slot: int, emit: Handler) -> bool:
        """Whether the slot can run an item now. Raises RunnerFailed where none ever can."""
        ...

    def perform(self, slot: int, order: WorkOrder, emit: Handler, stop: threading.Event) -> ItemResult:
        """Run an item. Raises ItemInterrupted, ExecutorLost, and RunnerFailed where no item can be run."""
        ...

    def close(self) -> None:
        """End everything at once."""
        ...


class LocalExecutor:
    """Runs items in processes of this machine."""

    def __init__(self, runner: ItemRunner, jobs: int) -> None:
        self.slots = jobs
        self._runner = runner

    def ready(self, slot: int, emit: Handler) -> bool:
        return True

    def perform(self, slot: int, order: WorkOrder, emit: Handler, stop: threading.Event) -> ItemResult:
        return self._runner.run_item(order, emit, stop)

    def close(self) -> None:
        self._runner.close()
