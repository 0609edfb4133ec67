"""A copy of activations is scaled after a call that compiled code leaves out."""

# /// defect
# cause = "A copy and its source are one tensor after a compiled graph, and backward needs the source unchanged"
# url = "https://github.com/pytorch/pytorch/issues/185497"
# torch = ">=2.13"
# kinds = ["exception-mismatch", "compiler-crash", "wrong-gradient", "wrong-result"]
# regex = 'modified by an inplace operation'
# ///

import torch


@torch.compiler.disable
def log(tensor):
    return tuple(tensor.shape)


def program(x, weight):
    hidden = torch.sigmoid(x * weight)
    kept = hidden.clone()
    shape = log(kept)
    kept.mul_(0.5)
    return kept.sum(), shape


def inputs(rng):
    yield rng.normal(5, 4, requires_grad=True), rng.normal(5, 4)
