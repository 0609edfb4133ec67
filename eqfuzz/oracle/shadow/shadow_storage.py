"""Shadow storages: float64 rows beside every real storage that holds rounded numbers."""

from __future__ import annotations

import dataclasses

import numpy as np
import torch
from torch.nn.parameter import is_lazy

from eqfuzz.oracle.reference.rounding_model import component
from eqfuzz.oracle.shadow.storage_table import StorageTable
from eqfuzz.torch_internals.tensors import is_zero_tensor, key_of_storage, negated_view, storage_key

_MOST_DEAD_BYTES = 16 << 20
"""Bytes of shadows that are stored before those of dead storages are dropped."""


@dataclasses.dataclass
class _Shadow:
    """``rows`` has shape (samples + 1, length): row 0 clean, the others noisy, in units of ``dtype``.

    ``jumped``: all of them are results of one operator such as ``floor``.
    """

    dtype: torch.dtype
    rows: torch.Tensor
    jumped: bool = False


class Shadows:
    """A table from storages to their shadows. The rows of a storage without a shadow equal its real numbers.

    Rows belong to storages, so views, in-place writes, expanded and aliased tensors need no bookkeeping of their own.
    Integers and bools, which may come from noisy floats, keep their dtype; floats are stored as float64. Those of
    dead storages are dropped before long.

    Attributes:
        rows: Rows of each shadow.
        bytes: What the shadows of living storages take, and a little that dead ones still do.
    """

    def __init__(self, samples: int) -> None:
        self.rows = samples + 1
        self.bytes = 0
        self._table: StorageTable[_Shadow] = StorageTable()
        self._unswept = 0

    def clear(self) -> None:
        """Drop all shadows."""
        self._table.clear()

    def holds(self, tensor: torch.Tensor) -> bool:
        return tensor.layout is torch.strided and storage_key(tensor) in self._table

    def reinterprets(self, tensor: torch.Tensor) -> bool:
        """Whether the storage's shadow was made for another dtype (``view(torch.int32)`` of floats)."""
        shadow = self._table.get(storage_key(tensor))
        return shadow is not None and shadow.dtype is not component(tensor.dtype)

    def view(self, tensor: torch.Tensor) -> torch.Tensor | None:
        """A writable view of ``tensor``'s rows, shape (samples + 1, *tensor.shape); None if it is exact."""
        shadow = self._table.get(storage_key(tensor))
        if shadow is None or shadow.dtype is not component(tensor.dtype):
            return None
        units = 2 if tensor.is_complex() else 1
        length = tensor.untyped_storage().nbytes() // tensor.element_size() * units
        if shadow.rows.shape[1] < length:
            self._grow(shadow, tensor, length)
        stride, first = shadow.rows.stride(0), shadow.rows.storage_offset()
        size = (self.rows, *tensor.size())
        if not tensor.is_complex():
            view = shadow.rows.as_strided(size, (stride, *tensor.stride()), first + tensor.storage_offset())
            return negated_view(view) if tensor.is_neg() else view
        doubled = tuple(2 * step for step in tensor.stride())
        parts = shadow.rows.as_strided((*size, 2), (stride, *doubled, 1), first + 2 * tensor.storage_offset())
        view = torch.view_as_complex(parts)
        return view.conj() if tensor.is_conj() else view

    def share(self, tensor: torch.Tensor, owner: torch.UntypedStorage) -> bool:
        """Give ``tensor``, whose storage is memory of ``owner`` (as after ``from_dlpack``), the rows of ``owner``.

        False where the two read it as different dtypes.
        """
        shadow = self._table.get(key_of_storage(owner))
        assert shadow is not None
        storage, unit = tensor.untyped_storage(), shadow.dtype.itemsize
        first, apart = divmod(storage.data_ptr() - owner.data_ptr(), unit)
        length = storage.nbytes() // unit
        if apart or component(tensor.dtype) is not shadow.dtype or first + length > shadow.rows.shape[1]:
            return False
        rows = shadow.rows[:, first : first + length]
        self._table.put(storage, _Shadow(shadow.dtype, rows))
        return True

    def adopt(self, tensor: torch.Tensor) -> None:
        """Make a shadow whose rows all equal the real numbers of ``tensor``'s storage."""
        real = _whole_storage(tensor)
        rows = real.to(shadow_dtype(real.dtype)).repeat(self.rows, 1)
        self._put(tensor, _Shadow(real.dtype, rows))

    def jumped(self, tensor: torch.Tensor) -> bool:
        """Whether the storage holds results of one operator that jumps."""
        shadow = self._table.get(storage_key(tensor))
        return shadow is not None and shadow.jumped

    def store(self, tensor: torch.Tensor, values: torch.Tensor, *, jumped: bool = False) -> None:
        """Make ``values``, shape (samples + 1, *tensor.shape), the shadow of a new tensor's storage."""
        units = 2 if tensor.is_complex() else 1
        length = tensor.untyped_storage().nbytes() // tensor.element_size() * units
        parts = torch.view_as_real(values.resolve_conj()) if tensor.is_complex() else values
        real = component(tensor.dtype)
        fits = parts.is_contiguous() and tensor.is_contiguous() and tensor.numel() * units == length
        if fits and parts.dtype is shadow_dtype(real):
            rows = parts.view(self.rows, length)
            self._put(tensor, _Shadow(real, rows, jumped))
            return
        rows = torch.zeros((self.rows, length), dtype=shadow_dtype(real))
        self._put(tensor, _Shadow(real, rows, jumped))
        view = self.view(tensor)
        assert view is not None
        view.copy_(values)

    def view_to_write(self, tensor: torch.Tensor) -> torch.Tensor | None:
        """The same as ``view``, for rows that are about to be overwritten."""
        shadow = self._table.get(storage_key(tensor))
        if shadow is not None:
            shadow.jumped = False
        return self.view(tensor)

    def forget(self, tensor: torch.Tensor) -> None:
        """Remove the shadow: the storage is exact."""
        self._table.remove(storage_key(tensor))

    def refresh(self, tensor: torch.Tensor) -> None:
        """Overwrite the rows of ``tensor`` with its real numbers."""
        view = self.view_to_write(tensor)
        if view is not None:
            view.copy_(tensor)

    def of_array(self, array: np.ndarray) -> torch.Tensor | None:
        """The rows of a numpy array that shares memory with a shadowed tensor; None if there are none."""
        address = array.__array_interface__["data"][0]
        for storage, shadow in self._table.living():
            start = storage.data_ptr()
            if start <= address < start + storage.nbytes() and storage.device.type == "cpu":
                shared = torch.as_tensor(array)
                if component(shared.dtype) is not shadow.dtype:
                    return None
                whole = torch.empty(0, dtype=shared.dtype).set_(storage)
                offset = (address - start) // shared.element_size()
                return self.view(whole.as_strided(shared.size(), shared.stride(), offset))
        return None

    def _put(self, tensor: torch.Tensor, shadow: _Shadow) -> None:
        self._table.put(tensor.untyped_storage(), shadow)
        self.bytes += shadow.rows.nbytes
        self._unswept += shadow.rows.nbytes
        if self._unswept > _MOST_DEAD_BYTES:
            self._table.sweep()
            self._unswept = 0
            self.bytes = sum(one.rows.nbytes for one in self._table.values())

    def _grow(self, shadow: _Shadow, tensor: torch.Tensor, length: int) -> None:
        real = _whole_storage(tensor).to(shadow.rows.dtype)
        rows = torch.cat([shadow.rows, real[shadow.rows.shape[1] : length].expand(self.rows, -1)], dim=1)
        shadow.rows = rows.contiguous()


def shadow_dtype(dtype: torch.dtype) -> torch.dtype:
    if dtype.is_complex:
        return torch.complex128
    return torch.float64 if dtype.is_floating_point else dtype


def _whole_storage(tensor: torch.Tensor) -> torch.Tensor:
    """The storage as a flat tensor of the real component's dtype, without conjugation."""
    flat = torch.empty(0, dtype=component(tensor.dtype), device=tensor.device)
    return flat.set_(tensor.untyped_storage())


def has_storage(value: torch.Tensor) -> bool:
    return not is_lazy(value) and value.layout is torch.strided and not value.is_meta and not is_zero_tensor(value)


def is_inexact(value: torch.Tensor) -> bool:
    return value.dtype.is_floating_point or value.dtype.is_complex
