"""A header is written into a table, and a snapshot of it is returned."""

# /// defect
# cause = "Inductor reinplaces a scatter whose result is also returned, so that the result is the input"
# url = "https://github.com/pytorch/pytorch/issues/195451"
# torch = ">=2.13"
# kinds = ["wrong-metadata", "wrong-side-effect", "wrong-result"]
# regex = 'slice_scatter|slice'
# ///

import torch


def program(table, header):
    updated = torch.slice_scatter(table, header, 0, 0, 1)
    table.copy_(updated)
    return updated


def inputs(rng):
    yield rng.normal(4, 5), rng.normal(1, 5)
