"""Arguments written in place that are laid out by columns, have gaps between their rows, or are every other column."""

import torch


def program(by_columns, with_gaps, every_other, y):
    by_columns.mul_(2)
    with_gaps += y
    with_gaps[0].clamp_(min=-0.5)
    every_other.copy_(by_columns[:, : every_other.shape[1]] + 1)
    by_columns[1:, -1] = 0.25
    return by_columns + y, with_gaps.t() @ every_other, torch.relu(every_other).sum(0)


def inputs(rng):
    yield rng.normal(6, 4).t(), rng.normal(4, 9)[:, 1:7], rng.normal(4, 8)[:, ::2], rng.normal(4, 6)
