"""Values put into bins by bucketize and searchsorted, then looked up and interpolated linearly."""

import torch


def program(x, knots, heights):
    upper = torch.bucketize(x, knots).clamp(1, knots.numel() - 1)
    lower = upper - 1
    left, right = knots[lower], knots[upper]
    fraction = (x - left) / (right - left)
    y = heights[lower] * (1 - fraction) + heights[upper] * fraction
    inside = (x >= knots[0]) & (x <= knots[-1])
    count = torch.searchsorted(knots, x.reshape(-1), right=True).view_as(x)
    return torch.where(inside, y, heights.mean()), count - lower, torch.lerp(left, right, fraction)


def inputs(rng):
    yield rng.uniform(12, 90, low=-1, high=9), torch.arange(9.0), rng.normal(9, requires_grad=True)
