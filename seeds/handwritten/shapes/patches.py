"""Pictures cut into 4x4 patches, weighted, and put together again: view, permute, reshape."""

import torch


def program(images, weight):
    n, c, h, w = images.shape
    rows, columns = h // 4, w // 4
    patches = images.view(n, c, rows, 4, columns, 4).permute(0, 2, 4, 1, 3, 5)
    tokens = patches.reshape(n, rows * columns, c * 16)
    scaled = tokens * weight + tokens.mean(dim=1, keepdim=True)
    back = scaled.reshape(n, rows, columns, c, 4, 4).permute(0, 3, 1, 4, 2, 5).reshape(n, c, h, w)
    return torch.relu(back) - images, tokens.transpose(1, 2)


def inputs(rng):
    yield rng.normal(2, 3, 16, 12), rng.uniform(48, low=0.5, high=1.5)
    yield rng.normal(1, 3, 8, 8), rng.uniform(48, low=0.5, high=1.5)
