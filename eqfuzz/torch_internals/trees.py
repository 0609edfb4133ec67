"""Nested containers as torch sees them: the leaves of lists, tuples, dictionaries and what has been registered."""

from torch.utils._pytree import tree_flatten, tree_leaves, tree_map, tree_map_only

__all__ = ["tree_flatten", "tree_leaves", "tree_map", "tree_map_only"]
