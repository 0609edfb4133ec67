"""A small class with operator methods, properties and a class constant: dual numbers by hand."""

import torch


class Dual:
    EPSILON = 1e-3

    def __init__(self, value, slope):
        self.value, self.slope = value, slope

    def __add__(self, other):
        return Dual(self.value + other.value, self.slope + other.slope)

    def __mul__(self, other):
        return Dual(self.value * other.value, self.value * other.slope + self.slope * other.value)

    def exp(self):
        e = torch.exp(self.value)
        return Dual(e, e * self.slope)

    @property
    def pair(self):
        return self.value, self.slope / (1 + Dual.EPSILON)


def program(x, y):
    a = Dual(x, torch.ones_like(x))
    b = Dual(y, torch.zeros_like(y))
    result = (a * a + b).exp() * b + a
    value, slope = result.pair
    return value, slope, (value - slope).amax(dim=-1)


def inputs(rng):
    yield rng.uniform(5, 40, low=-1), rng.uniform(5, 40, low=-1)
    yield rng.uniform(2, 3, low=-1), rng.uniform(3, low=-1)
