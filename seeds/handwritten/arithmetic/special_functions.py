"""Elementary functions of positive numbers, in pairs that name the same quantity in two ways."""

import torch


def trigonometry(x, y):
    circle = torch.sin(x) ** 2 + torch.cos(x) ** 2
    slope = torch.tan(x) + torch.cos(x) * y
    radians = torch.deg2rad(y * 90) - torch.sin(y)
    return circle, slope, radians, torch.sinh(x) / torch.cosh(x)


def program(x, y, column):
    powers = x**-0.5 + torch.reciprocal(y) + y**-1
    binary = torch.exp2(x) * torch.pow(2.0, y)
    growth = torch.exp(x) - 1 + torch.log1p(y)
    scale = torch.log10(y) + torch.log(torch.sqrt(x)) - 0.5 * torch.log(y)
    lengths = torch.sqrt(x * x) + torch.sqrt(x * x + y * y)
    entropy = torch.xlogy(x, y) + torch.logaddexp(x, y)
    both = torch.log(torch.exp(x) + torch.exp(y))
    odds = torch.logit(x) + torch.log(x / (1 - x))
    tails = torch.erfc(x) * (1 - torch.erf(y)) + torch.sigmoid(-x)
    turns = torch.cos(column) + 6 * column + torch.sin(column).sum()
    return powers, binary * growth, scale + lengths, entropy - both, odds * tails, turns, *trigonometry(x, y)


def inputs(rng):
    yield rng.uniform(5, 33, low=0.1, high=0.9), rng.uniform(5, 33, low=0.1, high=0.9), rng.normal(9)
