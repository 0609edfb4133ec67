"""Two halves of an activation go on in training, the whole is kept for a plot."""

# /// defect
# cause = "A detached output marks the views of its base as not differentiable, too"
# url = "https://github.com/pytorch/pytorch/pull/195357"
# torch = ">=2.13"
# kinds = ["wrong-metadata", "wrong-gradient"]
# regex = 'detach'
# ///

import torch


def program(x, weight):
    hidden = torch.tanh(x @ weight)
    return hidden[:, :4], hidden[:, 4:], hidden.detach()


def inputs(rng):
    yield rng.normal(5, 6, requires_grad=True), rng.normal(6, 8, requires_grad=True)
