"""A table from storages to values, which lasts as long as the storages do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar

import torch

from eqfuzz.torch_internals.tensors import WeakStorage, key_of_storage

V = TypeVar("V")

_SWEEP = 64
"""Entries after which dead storages are looked for, at least."""


class StorageTable(Generic[V]):
    """Values by storage. That of a storage that nothing holds any more is dropped before long."""

    def __init__(self) -> None:
        self._entries: dict[int, tuple[WeakStorage, V]] = {}
        self._sweep_at = _SWEEP

    def __contains__(self, key: int) -> bool:
        return key in self._entries

    def get(self, key: int) -> V | None:
        """The value of the storage with this ``key_of_storage``; None if it has none."""
        entry = self._entries.get(key)
        return None if entry is None else entry[1]

    def put(self, storage: torch.UntypedStorage, value: V) -> None:
        """Set the value of a storage."""
        key = key_of_storage(storage)
        entry = self._entries.get(key)
        self._entries[key] = (WeakStorage(storage) if entry is None else entry[0], value)
        if len(self._entries) >= self._sweep_at:
            self.sweep()

    def remove(self, key: int) -> None:
        """Remove the entry of a storage, if there is one."""
        self._entries.pop(key, None)

    def sweep(self) -> None:
        """Drop the values of dead storages."""
        self._entries = {key: entry for key, entry in self._entries.items() if not entry[0].is_dead}
        self._sweep_at = max(_SWEEP, 2 * len(self._entries))

    def clear(self) -> None:
        """Drop all values."""
        self._entries.clear()

    def values(self) -> list[V]:
        """All values that were not dropped yet."""
        return [value for _, value in self._entries.values()]

    def living(self) -> Iterator[tuple[torch.UntypedStorage, V]]:
        """Storages that something still holds, with their values, in the order in which they were put."""
        for weak, value in list(self._entries.values()):
            storage = weak.get()
            if storage is not None:
                yield storage, value
