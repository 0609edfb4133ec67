"""Weights that are moved by quotients, each by its own factor (docs/findings/159)."""

import torch


def program(weight, mean, deviation, factors):
    weight = weight.clone()
    torch._foreach_addcdiv_([weight], [mean], [deviation], factors)
    return weight


def inputs(rng):
    yield rng.normal(3), rng.normal(3), rng.uniform(3, low=0.5, high=2.0), torch.tensor([2.0])
