"""Rapidities of very slow particles in units that make them about one."""

# /// defect
# cause = "The vectorised atanh is 0 for arguments below the float epsilon"
# url = "https://github.com/pytorch/pytorch/issues/198183"
# torch = ">=2.13"
# kinds = ["wrong-result"]
# regex = 'atanh'
# ///

import torch


def program(velocity, scale):
    rapidity = torch.atanh(velocity * scale)
    return rapidity / scale, rapidity.sum() / scale


def inputs(rng):
    yield rng.uniform(4, 32, low=0.5, high=1.5), 1e-8
