"""Signals that are blended with a weight that turns the phase (docs/findings/020)."""

import torch


def program(left, right):
    return torch.lerp(torch.polar(left.exp(), right), torch.polar(right.exp(), left), 0.25 + 0.5j).abs()


def inputs(rng):
    yield rng.normal(3, 4), rng.normal(3, 4)
