"""Rows picked, summed by segment and compared with slices, steps and single rows of the same table."""

import torch
import torch.nn.functional as F


def program(table, rows, positions, start, stop):
    picked = table[rows]
    summed = torch.zeros_like(table).index_add(0, rows, picked)
    seen = F.one_hot(rows, 10)
    counted = torch.zeros_like(seen).index_add(0, rows % 4, seen)
    tallied = torch.zeros_like(table).scatter_add(0, positions, table[:, :3] * 2)
    merged = tallied.scatter_reduce(0, positions, table[:, 3:] + 1, "sum")
    votes = seen.scatter_add(0, positions, positions * 2).scatter_reduce(0, positions, positions, "sum")
    swapped = torch.select_scatter(table, table[rows[0]], 0, 4) - torch.index_select(table, 0, rows)
    filled = torch.slice_scatter(table, picked[:2], 0, 1, 3).index_fill(1, rows[:2] % 6, 0.5)
    first = torch.cat([table[:1] * 2, table[1:]])
    along = torch.take_along_dim(table, positions, 1)
    spread = torch.take(table, positions)
    middle = table[start:stop] * 2
    ends = table[-1] - torch.select(table, 0, 0)
    edges = torch.select(table, 1, 2) + torch.select(table, -1, -1)
    return (
        merged - swapped,
        votes,
        filled + first,
        summed,
        counted,
        along + spread,
        middle - table[0:4],
        table[::3] + ends,
        edges.cumsum(0),
    )


def inputs(rng):
    yield rng.normal(10, 6), rng.integers(0, 10, 10), rng.integers(0, 6, 10, 3), 2, 6
