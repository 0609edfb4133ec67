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
    shares = F.softmin(x, dim=-1)
    return smooth + swish, hard, capped / 2, bounded * surprise, shares


def inputs(rng):
    yield rng.normal(6, 40), rng.normal(6, 40), 0.125
    yield rng.normal(3, 9), rng.normal(3, 9), 0.25
