"""Exponentials near their zeros: differences that keep their digits only where expm1 and log1p do."""

import torch
import torch.nn.functional as F


def program(x):
    soft = F.elu(x)
    ratio = 1 / (soft + torch.exp(soft))
    growth = torch.expm1(x) / x
    back = torch.log1p(torch.expm1(x)) - x
    return ratio, growth, back.abs() < 1e-6


def inputs(rng):
    yield rng.uniform(4, 30, low=-1e-3, high=1e-3)
    yield rng.normal(4, 30)
