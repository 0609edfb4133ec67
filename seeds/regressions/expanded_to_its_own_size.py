"""A result returned as two views: expanded to the size that it has, and flat (docs/findings/103)."""

import torch


def program(x):
    y = x.sin()
    return y.expand(3, 4), y.reshape(12)


def inputs(rng):
    yield (rng.normal(3, 4),)
