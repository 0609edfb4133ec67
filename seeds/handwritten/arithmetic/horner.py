"""A cubic by Horner's rule and by powers, and the clamped difference of the two curves."""

import torch


def horner(x, coefficients):
    total = torch.zeros_like(x)
    for c in coefficients:
        total = total * x + c
    return total


def program(x, y):
    cubic = horner(x, [2.0, -1.0, 0.5, 3.0])
    other = 0.25 * y**3 + y**2 - 4 * y + 1
    blend = torch.sigmoid(y) * cubic + (1 - torch.sigmoid(y)) * other
    return blend.clamp(-20, 20), (cubic - other) / (1 + abs(x))


def inputs(rng):
    yield rng.normal(6, 7), rng.normal(6, 7)
    yield rng.normal(40, 33), rng.normal(40, 33)
