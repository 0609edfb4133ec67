"""Columns and an empty batch in one (docs/findings/093)."""

import torch


def program(x, none):
    return torch.cat((x.t(), none))


def inputs(rng):
    yield rng.normal(3, 4), rng.normal(0, 3)
