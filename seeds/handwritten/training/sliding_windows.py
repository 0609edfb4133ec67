"""Overlapping windows of a series are returned: their gradients add up where they overlap."""

import torch


def program(x, weight):
    windows = (x * weight).unfold(0, 4, 3)
    return windows, windows.mean(1)


def inputs(rng):
    yield rng.normal(13, requires_grad=True), rng.normal(13, requires_grad=True)
