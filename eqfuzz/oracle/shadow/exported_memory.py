"""Memory of tensors that NumPy shares, where it may write what torch's operators did not compute."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable

import torch

from eqfuzz.oracle.shadow.shadow_storage import has_storage, storage_key
from eqfuzz.oracle.shadow.storage_table import StorageTable


class ExportedMemory:
    """Storages that were converted to arrays, with their bytes after the last operator that wrote to them."""

    def __init__(self) -> None:
        self._bytes: StorageTable[bytes] = StorageTable()

    def export(self, value: torch.Tensor) -> None:
        """Watch the memory of ``value``, if it is on the CPU."""
        if has_storage(value) and value.device.type == "cpu" and storage_key(value) not in self._bytes:
            self._bytes.put(value.untyped_storage(), _bytes_of(value))

    def refresh(self, values: Iterable[torch.Tensor]) -> None:
        """An operator wrote to ``values``."""
        for value in values:
            if has_storage(value) and storage_key(value) in self._bytes:
                self._bytes.put(value.untyped_storage(), _bytes_of(value))

    def is_overwritten(self, value: torch.Tensor) -> bool:
        """Whether the memory of ``value`` has other bytes than operators left there."""
        expected = self._bytes.get(storage_key(value)) if has_storage(value) else None
        return expected is not None and expected != _bytes_of(value)


def _bytes_of(value: torch.Tensor) -> bytes:
    # Not through a tensor, whose operators are shadowed.
    storage = value.untyped_storage()
    return ctypes.string_at(storage.data_ptr(), storage.nbytes()) if storage.nbytes() else b""
