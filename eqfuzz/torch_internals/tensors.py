"""Private properties of tensors: identity of the storage, number of writes, whether there is memory."""

from __future__ import annotations

import torch


def is_zero_tensor(tensor: torch.Tensor) -> bool:
    """Whether it is one of autograd's zeros without memory (``ZeroTensor``), which crash what reads their storage."""
    return tensor._is_zerotensor()


def storage_key(tensor: torch.Tensor) -> int:
    """Equal for tensors that look into one storage, for as long as one of them lives."""
    return key_of_storage(tensor.untyped_storage())


def key_of_storage(storage: torch.UntypedStorage) -> int:
    """The ``storage_key`` of the tensors that look into it."""
    return storage._cdata


class WeakStorage:
    """A storage that is not kept alive by this, while its ``key_of_storage`` is not used again either."""

    def __init__(self, storage: torch.UntypedStorage) -> None:
        self._weak = storage._weak_ref()

    @property
    def is_dead(self) -> bool:
        """Whether nothing holds the storage any more."""
        return bool(torch.UntypedStorage._expired(self._weak))

    def get(self) -> torch.UntypedStorage | None:
        """The storage; None if it is dead."""
        return torch.UntypedStorage._new_with_weak_ptr(self._weak)

    def __del__(self) -> None:
        torch.UntypedStorage._free_weak_ref(self._weak)


def version(tensor: torch.Tensor) -> int:
    """How often it, or what shares its storage, was written to. Tensors of inference mode do not count."""
    return tensor._version


def has_history(tensor: torch.Tensor) -> bool:
    """Whether gradients pass through ``tensor``: a view taken without gradients requires them where its base does."""
    return tensor.requires_grad and (tensor.grad_fn is not None or tensor._base is None)


def negated_view(tensor: torch.Tensor) -> torch.Tensor:
    """A view that reads as minus the tensor and shares its memory."""
    return torch.ops.aten._neg_view(tensor)
