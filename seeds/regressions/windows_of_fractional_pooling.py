"""Windows of fractional pooling at samples that differ by dimension (docs/findings/145)."""

import torch
import torch.nn.functional as F


def program(x):
    samples = torch.tensor([[[0.1, 0.5, 0.9], [0.7, 0.3, 0.2]]])
    return F.fractional_max_pool3d(x, 2, output_size=(4, 4, 4), _random_samples=samples)


def inputs(rng):
    yield (rng.normal(1, 2, 6, 6, 6),)
