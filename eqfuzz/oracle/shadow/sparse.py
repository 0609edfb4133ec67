"""Sparse tensors of rounded numbers: the dense rows behind each, kept while it only changes its form."""

from __future__ import annotations

import torch

_CONVERSIONS = frozenset(
    """to_sparse _to_sparse to_sparse_csr _to_sparse_csr to_sparse_csc _to_sparse_csc to_sparse_bsr _to_sparse_bsr
    to_sparse_bsc _to_sparse_bsc to_dense _to_dense coalesce _coalesce detach alias clone""".split()
)

_STRUCTURE = frozenset(
    "is_coalesced sparse_dim dense_dim _dimI _dimV _nnz _indices indices crow_indices col_indices".split()
)


class SparseRows:
    """The table sparse tensor → its rows in dense form, shape (samples + 1, *shape). The tensors are held."""

    def __init__(self) -> None:
        self._table: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}

    def of(self, tensor: torch.Tensor) -> torch.Tensor | None:
        known = self._table.get(id(tensor))
        return None if known is None else known[1]

    def keep(self, tensor: torch.Tensor, rows: torch.Tensor) -> None:
        self._table[id(tensor)] = (tensor, rows)


def keeps_numbers(name: str) -> bool:
    """Whether the operator only moves numbers between a sparse form and another form."""
    return name in _CONVERSIONS


def asks_for_structure(name: str) -> bool:
    """Whether the operator only reads where numbers are stored, not which."""
    return name in _STRUCTURE
