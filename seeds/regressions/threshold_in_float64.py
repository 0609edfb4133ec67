"""Which bin of float64 edges a fixed threshold lies in (docs/findings/018)."""

import torch


def program(edges):
    return torch.bucketize(0.1, edges), torch.searchsorted(edges, 0.3, right=True)


def inputs(rng):
    yield (torch.tensor([0.1, 0.2, 0.3, 0.4], dtype=torch.float64),)
