"""A detached copy of the header of activations is shrunk, the activations themselves go on."""

# /// defect
# cause = "AOTAutograd gives a tensor and its detached alias one object, so that resize_ of one changes the other"
# url = "https://github.com/pytorch/pytorch/issues/191844"
# torch = ">=2.13"
# kinds = ["wrong-result", "wrong-metadata", "exception-mismatch", "compiler-crash"]
# regex = 'detach'
# ///

import torch


def program(x, bias):
    hidden = torch.sigmoid(x + bias)
    head = hidden.detach()
    head.resize_(3)
    return hidden * 2, head + 1


def inputs(rng):
    yield rng.normal(12), rng.normal(12)
