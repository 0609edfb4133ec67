"""Activation functions written out by hand and mixed, with the gradient of the input."""

import torch
import torch.nn.functional as F


def program(x, gate):
    swish = x * torch.sigmoid(gate * x)
    gelu = 0.5 * x * (1 + torch.tanh(0.7978845608 * (x + 0.044715 * x.pow(3))))
    mish = x * torch.tanh(F.softplus(x))
    elu = torch.where(x > 0, x, torch.expm1(x))
    return swish + gelu * mish - elu / (1 + x.abs())


def inputs(rng):
    yield rng.normal(5, 9, requires_grad=True), rng.uniform(9, low=0.5, high=2.0)
