"""Nested containers: the leaves of lists, tuples, dictionaries and types registered with torch."""

from typing import Any

import torch
from torch.utils._pytree import tree_flatten, tree_leaves, tree_map, tree_map_only, tree_unflatten

__all__ = ["tensors_in", "tree_flatten", "tree_leaves", "tree_map", "tree_map_only", "tree_unflatten"]


def tensors_in(value: Any) -> list[torch.Tensor]:
    """The tensors in nested containers, in order, repeats included."""
    return [leaf for leaf in tree_leaves(value) if isinstance(leaf, torch.Tensor)]
