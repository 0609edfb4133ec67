"""Features of one image, alone and as a batch (docs/findings/097)."""

import torch.nn.functional as F


def program(x, weight):
    features = F.conv2d(x, weight)
    return features, features.unsqueeze(0)


def inputs(rng):
    yield rng.normal(2, 5, 5), rng.normal(5, 2, 1, 3, requires_grad=True)
