"""Peaks of audio levels, in whole decibels below full scale, and the headroom above them.

A known compiler defect is found from it: on a CPU, torch compiles ``amax`` of 16 or more negative int8 values to 0, as
it does ``amin`` of positive ones (pytorch #191499).
"""

import torch


def program(levels, gain):
    peaks = levels.amax(dim=1)
    headroom = -peaks.to(torch.int16) - gain
    return peaks, headroom


def inputs(rng):
    yield rng.integers(-90, -3, 4, 64, dtype=torch.int8), rng.integers(0, 12, 4, dtype=torch.int16)
