"""Convolution, bias, relu and max-pooling on a small picture, with gradients of the filters."""

import torch
import torch.nn.functional as F


def program(image, filters, bias):
    x = F.conv2d(image, filters, padding=1) + bias.view(1, -1, 1, 1)
    x = F.relu(x)
    pooled = F.max_pool2d(x, kernel_size=2)
    centred = pooled - pooled.mean(dim=(2, 3), keepdim=True)
    return torch.relu(centred) * 0.5, x.sum(dim=1)


def inputs(rng):
    yield (
        rng.normal(2, 3, 8, 10),
        rng.normal(4, 3, 3, 3, requires_grad=True),
        rng.normal(4, requires_grad=True),
    )
