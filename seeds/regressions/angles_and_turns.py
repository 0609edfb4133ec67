"""Angles modulo turns, one of which is endless (docs/findings/121)."""

import torch


def program(angle, turn):
    return torch.remainder(angle, turn)


def inputs(rng):
    turns = rng.uniform(32, low=0.5, high=1)
    turns[3] = float("inf")
    yield rng.uniform(32, low=50, high=100), turns
