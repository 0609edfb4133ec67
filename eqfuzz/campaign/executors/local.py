"""Who does the items: this machine's processes here, those of a Ray cluster in ``ray_executor``."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Protocol

from eqfuzz.campaign.executors.item_runner import ItemResult, ItemRunner
from eqfuzz.campaign.store.records import Item
from eqfuzz.events.event import Event


class ExecutorLost(Exception):
    """The worker that held an item is gone; the item is to be handed out again. ``str()`` says how."""


class Executor(Protocol):
    """Does items, ``slots`` at a time; ``perform`` is called from as many threads, which are numbered."""

    @property
    def slots(self) -> int: ...

    def ready(self, slot: int, emit: Callable[[Event], None]) -> bool:
        """Whether the slot can do an item; False where that is to be asked again. Raises RunnerFailed."""
        ...

    def perform(
        self,
        slot: int,
        item: Item,
        text: str,
        index: int,
        emit: Callable[[Event], None],
        stop: threading.Event,
    ) -> ItemResult:
        """Raises CutOff, ExecutorLost, or RunnerFailed where nothing can be run at all."""
        ...

    def close(self) -> None:
        """End everything at once."""
        ...


class LocalExecutor:
    """Does items in processes of this machine."""

    def __init__(self, workshop: ItemRunner, jobs: int) -> None:
        self.slots = jobs
        self._workshop = workshop

    def ready(self, slot: int, emit: Callable[[Event], None]) -> bool:
        return True

    def perform(
        self,
        slot: int,
        item: Item,
        text: str,
        index: int,
        emit: Callable[[Event], None],
        stop: threading.Event,
    ) -> ItemResult:
        return self._workshop.perform(item, text, index, emit, stop)

    def close(self) -> None:
        self._workshop.close()
