"""Storages that a shadowed program has used. Any other storage was made outside of torch's operators."""

from __future__ import annotations

from collections.abc import Iterable

import torch

from eqfuzz.oracle.shadow.shadow_storage import has_storage, storage_key
from eqfuzz.oracle.shadow.storage_table import StorageTable


class KnownMemory:
    """Storages by their key."""

    def __init__(self) -> None:
        self._storages: StorageTable[None] = StorageTable()

    def remember(self, value: torch.Tensor) -> None:
        """Add its storage."""
        if has_storage(value) and storage_key(value) not in self._storages:
            self._storages.put(value.untyped_storage(), None)

    def knows(self, value: torch.Tensor) -> bool:
        """Whether its storage is known, or it has none."""
        return not has_storage(value) or storage_key(value) in self._storages

    def knows_all(self, values: Iterable[torch.Tensor]) -> bool:
        return all(self.knows(value) for value in values)

    def holds(self, address: int) -> bool:
        """Whether the address lies in a known storage."""
        return any(s.data_ptr() <= address < s.data_ptr() + s.nbytes() for s, _ in self._storages.living())

    def owner(self, value: torch.Tensor) -> torch.UntypedStorage | None:
        """The known storage whose memory includes that of ``value``; None if there is none."""
        storage = value.untyped_storage()
        if value.device.type != "cpu" or not storage.nbytes():
            return None
        first = storage.data_ptr()
        end = first + storage.nbytes()
        for other, _ in self._storages.living():
            if other.device.type == "cpu" and other.data_ptr() <= first and end <= other.data_ptr() + other.nbytes():
                return other
        return None
