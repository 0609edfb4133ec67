"""Labels that are kept as floats, counted in int8 (docs/findings/031)."""

import torch


def program(labels):
    return labels.sum(dtype=torch.int8)


def inputs(rng):
    yield (rng.integers(0, 3, 20).to(torch.float32),)
