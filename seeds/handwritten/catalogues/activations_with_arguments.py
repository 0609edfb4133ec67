"""Activation functions with arguments other than their defaults, each an output of its own."""

import torch
import torch.nn.functional as F


def program(x, slope):
    rectified = F.leaky_relu(x, 0.3), F.prelu(x, slope), F.relu6(x * 5), F.threshold(x, 0.1, -2.0)
    exponential = F.elu(x, 1.7), F.celu(x, 0.4), F.selu(x), F.softplus(x, beta=2.5, threshold=3.0)
    bounded = F.hardtanh(x, -0.6, 0.9), F.hardsigmoid(x * 3), F.hardswish(x * 2), torch.clamp(x, max=0.25)
    smooth = F.gelu(x, approximate="tanh"), F.gelu(x), F.mish(x), F.silu(x), F.logsigmoid(x), F.tanhshrink(x)
    shrunk = F.softshrink(x, 0.3), F.hardshrink(x, 0.7), F.softsign(x), F.glu(x, 0)
    shares = F.softmax(x, 0), F.log_softmax(x, -1), F.softmin(x, 1), F.normalize(x, p=1.0, dim=0)
    return rectified, exponential, bounded, smooth, shrunk, shares


def inputs(rng):
    spread = rng.choice([-2.75, -1.625, -0.875, -0.5, 0.375, 1.5, 2.25], 6, 9)
    yield spread.requires_grad_(), rng.uniform(9, requires_grad=True)
