"""Convolution as a matrix product of unfolded patches, folded back to count the overlaps."""

import torch
import torch.nn.functional as F


def program(x, weight):
    n, _, h, w = x.shape
    columns = F.unfold(x, kernel_size=3, padding=1)
    product = weight.flatten(1) @ columns
    image = product.view(n, -1, h, w)
    direct = F.conv2d(x, weight, padding=1)
    ones = torch.ones_like(columns)
    overlap = F.fold(ones, (h, w), kernel_size=3, padding=1)
    return (image + direct) / 2, overlap[:, 0] - 9, image.amax(dim=1) / overlap.sum(1).sqrt()


def inputs(rng):
    yield rng.normal(2, 3, 7, 8), rng.normal(5, 3, 3, 3, requires_grad=True)
