"""A bias of zeros that is made on the spot is added to the batch."""

# /// defect
# cause = "Adding zeros is folded to the argument itself instead of a new tensor"
# url = "https://github.com/pytorch/pytorch/issues/197893"
# torch = ">=2.13"
# kinds = ["wrong-metadata"]
# regex = 'constant_fold_uniform_value'
# ///

import torch


def program(batch, use_bias):
    bias = torch.ones(batch.shape[1]) if use_bias else torch.zeros(batch.shape[1])
    shifted = batch + bias
    return shifted, batch.mean()


def inputs(rng):
    yield rng.normal(4, 6), False
