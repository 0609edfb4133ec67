"""Whether what a program leaves can be read: compiled code may return tensors that their storage does not hold."""

from __future__ import annotations

import torch


def unreadable(tensor):
    """Why the values of a tensor cannot be read, in words; empty where they can."""
    try:
        if tensor.layout is torch.strided and tensor.numel() and not tensor.is_meta:
            steps = sum((size - 1) * step for size, step in zip(tensor.shape, tensor.stride(), strict=True))
            needed = (tensor.storage_offset() + steps + 1) * tensor.element_size()
            if needed > tensor.untyped_storage().nbytes():
                return f"it looks at {needed} bytes of a storage of {tensor.untyped_storage().nbytes()}"
        tensor.detach().clone()
    except Exception as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
    return ""
