"""Dropout that drops nothing gives its argument back, so what is written into it afterwards shows in the argument."""

import torch.nn.functional as F


def program(x):
    return F.dropout(x, 0.5, training=False), x.sin()


def inputs(rng):
    yield (rng.normal(5, 9),)
