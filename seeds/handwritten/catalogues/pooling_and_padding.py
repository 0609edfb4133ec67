"""Convolutions, pools and resampling with padding, dilation, groups, ceilings and odd sizes."""

import torch
import torch.nn.functional as F


def program(x, w, v):
    averages = (
        F.avg_pool2d(x, 3, 2, 1, count_include_pad=False),
        F.avg_pool2d(x, 2, ceil_mode=True),
        F.avg_pool2d(x, 3, 1, 1, divisor_override=4),
    )
    maxima = (
        F.max_pool2d(x, 3, 2, 1),
        F.max_pool2d(x, 2, ceil_mode=True, return_indices=True),
        F.max_pool2d(x, 2, 1, dilation=2),
    )
    other = F.adaptive_avg_pool2d(x, (3, 2)), F.adaptive_max_pool2d(x, 2), F.lp_pool2d(x, 2.0, 2), F.avg_pool1d(x[0], 2)
    convolved = F.conv2d(x, w, padding=1), F.conv2d(x, w, stride=2, dilation=2, padding=2), F.conv2d(x, v, groups=2)
    back = (
        F.conv_transpose2d(x, v, stride=2, groups=2, output_padding=1),
        F.conv1d(x[:, :, 0], w[:, :, 0], padding="same"),
    )
    padded = F.pad(x, (1, 2, 0, 1), "reflect"), F.pad(x, (1, 1, 2, 0), "replicate"), F.pad(x, (0, 1, 1, 0), value=-1.0)
    sized = (
        F.interpolate(x, scale_factor=2),
        F.interpolate(x, (5, 9), mode="bilinear", align_corners=True),
        F.interpolate(x, (4, 3), mode="area"),
    )
    shuffled = (
        F.pixel_shuffle(x, 2),
        F.pixel_unshuffle(x[..., :6, :6], 2),
        F.channel_shuffle(x, 2),
        F.unfold(x, 2, padding=1),
    )
    return averages, maxima, other, convolved, back, padded, sized, shuffled


def inputs(rng):
    yield rng.normal(2, 4, 7, 6), rng.normal(3, 4, 3, 3), rng.normal(4, 2, 2, 2)
