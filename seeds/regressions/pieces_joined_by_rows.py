# /// eqfuzz
# source = "person"
# configs = "inductor-fusions"
# ///
"""Columns that are joined one below the other in another order (docs/findings/161)."""

import torch


def program(x):
    a, b, c, d = torch.split(x, 2, dim=1)
    return torch.cat([c, d, a, b], dim=0), a * d


def inputs(rng):
    yield (rng.normal(4, 8),)
