"""An image sampled at places of which some are NaN, which counts as -1 (docs/findings/024)."""

import torch


def program(image, grid):
    return torch.nn.functional.grid_sample(image, grid, padding_mode="border", align_corners=True)


def inputs(rng):
    yield rng.normal(1, 2, 4, 4), rng.choice([float("nan"), 0.0, 1.0, -1.0], 1, 3, 3, 2)
