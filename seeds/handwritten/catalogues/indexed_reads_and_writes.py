"""Gathers, scatters, masked writes and slice assignments, each on a copy of its own."""

import torch


def program(x, rows, places, mask, y):
    taken = (
        x[rows],
        x.index_select(0, rows),
        x.gather(1, places),
        x.take(places),
        torch.take_along_dim(x[:5], places, 1),
    )
    added = x.index_add(0, rows, y, alpha=-2), x.index_copy(0, rows.unique()[:2], y[:2]), x.index_fill(1, rows, 7.0)
    put = x.index_put((rows,), y), x.index_put((rows, rows), y[:, 0], accumulate=True), x.masked_scatter(mask, y.sin())
    masked_in = x.index_put((mask,), y[0, 0]), x.index_put((mask,), y[0, 0], accumulate=True)
    scattered = (
        x.scatter(1, places, y),
        x.scatter(1, places, 0.5),
        x.scatter_add(1, places, y),
        x.scatter(1, places, 2.0, reduce="multiply"),
    )
    reduced = tuple(
        x.scatter_reduce(1, places, y, how, include_self=False) for how in ("sum", "prod", "mean", "amax", "amin")
    )
    kept = (
        x.scatter_reduce(1, places, y, "amax"),
        x.index_reduce(0, rows, y, "prod"),
        x.index_reduce(0, rows, y, "amin", include_self=False),
    )
    masked = x.masked_fill(mask, -1.0), torch.where(mask, x, y.mean()), x.where(~mask, 0), mask * x, x[mask].sum()
    last, steps, block, column = x.clone(), x.clone(), x.clone(), x.clone()
    last[-1] = y[0]
    steps[::2] = 1.0
    steps[:, 1::3] *= 2
    block[1:4, 2:5] = y[:3, :3]
    block[..., -1] += 1
    column[:, rows] = 0.25
    column[mask] = -column[mask]
    whole = (
        x.slice_scatter(y[:2], 0, 1, 3),
        x.select_scatter(y[0], 0, -2),
        x.diagonal_scatter(y[0, :4], 2),
        x.fill_diagonal_(9.0),
    )
    found = (
        torch.searchsorted(x[0].sort().values, y),
        torch.bucketize(y, x[1].sort().values, right=True),
        mask.nonzero().shape[1],
    )
    return taken, added, put, masked_in, scattered, reduced, kept, masked, last, steps, block, column, whole, found


def inputs(rng):
    places = rng.integers(0, 6, 5, 6)
    yield rng.normal(6, 6), rng.integers(0, 6, 5), places, rng.booleans(6, 6), rng.normal(5, 6)
