"""Zeros of both signs through products, extremes, square roots and signs; division shows the sign."""

import torch


def program(x, y):
    product = x * y
    negated = -x
    sign = torch.sign(product)
    infinite = 1 / product
    absolute = 1 / torch.abs(x)
    flipped = torch.copysign(torch.ones_like(x), negated)
    bits = torch.signbit(product) ^ torch.signbit(y)
    return infinite, absolute, sign + flipped, bits, torch.where(product == 0, x, y), torch.relu(x + 1)


def inputs(rng):
    yield rng.choice([0.0, -0.0, 1.0, -1.0], 5, 70), rng.choice([0.0, -0.0, 2.0, -2.0], 5, 70)
