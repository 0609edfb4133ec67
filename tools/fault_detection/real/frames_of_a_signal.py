"""Overlapping frames of a signal that a filter has scaled are returned in training."""

# /// defect
# cause = "AOTAutograd copies an incoming gradient into strides that overlap"
# url = "https://github.com/pytorch/pytorch/pull/184519"
# torch = ">=2.13"
# kinds = ["wrong-gradient"]
# regex = 'unfold'
# direction = "gradient"
# ///

import torch


def program(signal, gain):
    return (torch.cos(signal) * gain).unfold(0, 5, 2)


def inputs(rng):
    yield rng.normal(15, requires_grad=True), rng.normal(15)
