"""Sparse tensors of rounded numbers, with their rows in dense form."""

from __future__ import annotations

import torch

_CONVERSIONS = frozenset(
    """to_sparse _to_sparse to_sparse_csr _to_sparse_csr to_sparse_csc _to_sparse_csc to_sparse_bsr _to_sparse_bsr
    to_sparse_bsc _to_sparse_bsc to_dense _to_dense coalesce _coalesce detach alias clone sparse_mask""".split()
)

_STRUCTURE = frozenset(
    "is_coalesced sparse_dim dense_dim _dimI _dimV _nnz _indices indices crow_indices col_indices".split()
)


class SparseRows:
    """A table from sparse tensors to their rows in dense form, shape (samples + 1, *shape). Keeps the tensors alive."""

    def __init__(self) -> None:
        self._table: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}

    def of(self, tensor: torch.Tensor) -> torch.Tensor | None:
        entry = self._table.get(id(tensor))
        return None if entry is None else entry[1]

    def keep(self, tensor: torch.Tensor, rows: torch.Tensor) -> None:
        self._table[id(tensor)] = (tensor, rows)


def is_conversion(name: str) -> bool:
    """Whether the operator only converts its first operand from one layout to another, ``sparse_mask`` a part of it."""
    return name in _CONVERSIONS


def stored_elements(sparse: torch.Tensor) -> torch.Tensor:
    """A dense mask of the elements that a sparse tensor stores, zeros among them included."""
    entries = sparse.detach().to_sparse_coo().coalesce()
    ones = torch.ones_like(entries.values(), dtype=torch.float64)
    pattern = torch.sparse_coo_tensor(entries.indices(), ones, entries.shape, check_invariants=False)
    return pattern.to_dense() != 0


def reads_structure(name: str) -> bool:
    """Whether the operator only reads where numbers are stored, not their values."""
    return name in _STRUCTURE
