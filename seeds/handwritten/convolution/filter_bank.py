"""One bank of filters applied bare, with bias and with padding, flattened into features."""

import torch
import torch.nn.functional as F


def program(image, filters, bias, readout):
    bare = F.conv2d(image, filters)
    biased = F.conv2d(image, filters, bias)
    padded = F.conv2d(image, filters, bias, padding=1)
    pooled = F.max_pool2d(torch.relu(padded), 2)
    features = torch.flatten(pooled, 1)
    rows = torch.reshape(bare, (bare.shape[0], -1))
    line = torch.flatten(bare * biased)
    edges = F.pad(line, (2, 1))
    return features @ readout, rows, (edges[1:] - edges[:-1])[::2], torch.reshape(biased, (-1,)) / 3


def inputs(rng):
    yield rng.normal(2, 3, 8, 6), rng.normal(4, 3, 3, 3), rng.normal(4), rng.normal(48, 5)
