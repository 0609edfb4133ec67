"""Normal quantiles of probabilities very close to one, in double precision."""

# /// defect
# cause = "The C++ code of erfinv uses another algorithm, which cancels near one"
# url = "https://github.com/pytorch/pytorch/issues/198133"
# torch = ">=2.13"
# kinds = ["wrong-result"]
# regex = 'erfinv'
# ///

import math

import torch


def program(tails):
    quantiles = math.sqrt(2) * torch.erfinv(1 - 2 * tails)
    return quantiles, quantiles.diff()


def inputs(rng):
    yield (torch.tensor([1e-3, 1e-8, 1e-12, 1e-14, 2e-16], dtype=torch.float64),)
