"""Convolutions with groups, strides, dilation, 'same' padding and transposition, pooled and normalised."""

import torch
import torch.nn.functional as F


def program(image, filters, points, halves, mean, variance, line, window):
    same = F.conv2d(image, filters, padding="same")
    sparse = F.conv2d(same, filters, dilation=2)
    strided = F.conv2d(image, filters, stride=2)
    grouped = F.conv2d(image, halves, groups=2)
    mixed = F.conv2d(image, points)
    grown = F.conv_transpose2d(strided, filters)
    folded = F.batch_norm(F.conv2d(image, filters), mean, variance)
    normal = F.batch_norm(mixed, mean, variance, mean + 1, variance)
    pooled = F.max_pool2d(same, 2) + F.avg_pool2d(mixed, 2) - F.adaptive_avg_pool2d(image, 4)
    smooth = F.conv1d(line, window) + F.pad(line, (1, 2), mode="reflect")[..., 2:-3]
    return sparse + pooled, grown.amax(dim=(2, 3)), grouped - folded, normal, smooth


def inputs(rng):
    yield (
        rng.normal(2, 4, 8, 8),
        rng.normal(4, 4, 3, 3) / 4,
        rng.normal(4, 4, 1, 1),
        rng.normal(4, 2, 3, 3),
        rng.normal(4),
        rng.uniform(4, low=0.5, high=2.0),
        rng.normal(2, 1, 20),
        rng.normal(1, 1, 3),
    )
