"""A step counter that is advanced in place, and the factor of a learning rate that rises and then falls by it."""

import math

import torch


def program(step, warm_up):
    step.add_(1)
    rising = step / warm_up
    falling = 0.5 + 0.5 * torch.cos(math.pi * (step - warm_up) / (4 * warm_up))
    return torch.where(step < warm_up, rising, falling), warm_up - step


def inputs(rng):
    yield rng.integers(1, 9, 1, dtype=torch.float32), rng.integers(4, 12, 1, dtype=torch.float32)
