"""Readability of leaves: compiled code may return tensors that extend beyond their storage."""

from __future__ import annotations

import dataclasses

import torch

from eqfuzz.errors import error_line


@dataclasses.dataclass(frozen=True)
class Unreadable:
    """Replaces a leaf whose values cannot be read; all are equal, whatever the reason."""

    why: str = dataclasses.field(compare=False)


def unreadable(tensor, read=torch.clone):
    """The reason why the values of a tensor cannot be read; empty if `read` has read them."""
    try:
        if hasattr(tensor, "fake_mode"):
            return "it is a fake tensor"
        if tensor.layout is torch.strided and tensor.numel() and not tensor.is_meta:
            steps = sum((size - 1) * step for size, step in zip(tensor.shape, tensor.stride(), strict=True))
            needed = (tensor.storage_offset() + steps + 1) * tensor.element_size()
            if needed > tensor.untyped_storage().nbytes():
                return f"it needs {needed} bytes and its storage has {tensor.untyped_storage().nbytes()}"
        read(tensor.detach())
    except Exception as error:
        return error_line(error)
    return ""
