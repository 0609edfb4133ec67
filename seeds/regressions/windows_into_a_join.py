"""The corner of a table that was joined with itself (docs/findings/101)."""

import torch


def program(x):
    return torch.cat((x, x), -1)[:, :3].as_strided((2, 2), (6, 1))


def inputs(rng):
    yield rng.normal(4, 3)
