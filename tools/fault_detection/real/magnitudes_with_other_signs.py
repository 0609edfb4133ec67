"""Magnitudes stored by columns get the signs of another matrix."""

# /// defect
# cause = "The meta function of copysign forgets that the result is laid out as its first operand"
# url = "https://github.com/pytorch/pytorch/issues/198364"
# torch = ">=2.13"
# kinds = ["wrong-metadata"]
# regex = 'copysign'
# ///

import torch


def program(magnitudes, signs):
    return torch.copysign(magnitudes, signs), magnitudes * 2


def inputs(rng):
    yield rng.uniform(6, 5).t(), rng.normal(5, 6)
