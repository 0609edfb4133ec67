"""Sub-pixel upsampling by hand and by the library, then space-to-depth; pure data movement plus a mix."""

import torch
import torch.nn.functional as F


def depth_to_space(x, r):
    n, c, h, w = x.size()
    x = x.view(n, c // (r * r), r, r, h, w)
    return torch.permute(x, (0, 1, 4, 2, 5, 3)).reshape(n, c // (r * r), h * r, w * r)


def program(x):
    large = depth_to_space(x, 2)
    same = F.pixel_shuffle(x, 2)
    mixed = 0.5 * (large + same) + large.mean(dim=1, keepdim=True)
    small = F.pixel_unshuffle(mixed, 2)
    return small - x, (large == same).all(), mixed.transpose(2, 3).flatten(2)


def inputs(rng):
    yield rng.normal(2, 8, 5, 6)
