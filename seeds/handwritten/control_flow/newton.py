"""Newton's method for a cube root in a while loop with a fixed number of steps, and one Halley step."""

import torch


def program(a):
    x = torch.ones_like(a)
    left = 6
    while left > 0:
        x = x - (x**3 - a) / (3 * x**2)
        left -= 1
    halley = x * (x**3 + 2 * a) / (2 * x**3 + a)
    error = halley**3 / a
    return x, halley, error.mean(), [float(left), a.dim()]


def inputs(rng):
    yield rng.uniform(1200, low=1.0, high=8.0)
    yield rng.uniform(6, 5, low=1.0, high=8.0)
