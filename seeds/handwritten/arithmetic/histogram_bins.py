"""Bins of measurements by floor division, with edges that no float hits exactly.

A known compiler defect is found from it: Inductor takes the floor of a quotient that was rounded to the next whole number,
where eager and Python do not round (pytorch #197895).
"""

import torch


def program(samples, width):
    bins = samples // width
    return bins, torch.div(samples, width, rounding_mode="floor") - bins, (bins == 9).sum()


def inputs(rng):
    yield rng.integers(1, 90, 24).to(torch.float32) / 10, torch.tensor([0.1])
