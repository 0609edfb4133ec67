"""Gated branches with the library's activations, smooth and piecewise linear, side by side."""

import torch
import torch.nn.functional as F


def program(x, gate, slope):
    smooth = F.silu(gate) * F.gelu(x) + F.mish(x) - F.elu(gate)
    swish = x * torch.sigmoid(x)
    hard = F.hardswish(x) + F.hardsigmoid(gate) * F.leaky_relu(x, slope)
    capped = F.relu6(x * 4) - F.hardtanh(gate * 3, 0.0, 6.0)
    bounded = F.softsign(x) + F.tanhshrink(gate)
    surprise = F.logsigmoid(gate) * 0.5 + -F.softplus(-x)
    sparse = F.softshrink(x, 0.5) + F.threshold(gate, 0.25, -1.0)
    scaled = F.selu(x) + F.celu(gate, 1.5) - F.gelu(x, approximate="tanh")
    halved = F.glu(torch.cat([x, gate], dim=-1), -1)
    shares = F.softmin(x, dim=-1) * halved
    return smooth + swish, hard, capped / 2, bounded * surprise, sparse - scaled, shares


def inputs(rng):
    yield rng.normal(6, 40), rng.normal(6, 40), 0.125
    yield rng.normal(3, 9), rng.normal(3, 9), 0.25
