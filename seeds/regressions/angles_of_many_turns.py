"""Angles of many turns, reduced to one (docs/findings/121)."""

import torch


def program(angle, turn):
    return torch.remainder(angle, turn)


def inputs(rng):
    yield rng.uniform(32, low=1e5, high=1e6), rng.uniform(32, low=0.5, high=1)
