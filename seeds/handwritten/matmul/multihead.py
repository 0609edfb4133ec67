"""Multi-head self-attention with a fused projection, and gradients of both weights."""

import torch
import torch.nn.functional as F


def program(x, w_in, w_out):
    n, t, d = x.shape
    qkv = F.linear(x, w_in).view(n, t, 3, 2, d // 2)
    q, k, v = qkv.permute(2, 0, 3, 1, 4)
    weights = torch.softmax((q @ k.mT) * (d // 2) ** -0.5, dim=-1)
    mixed = torch.matmul(weights, v).transpose(1, 2).reshape(n, t, d)
    return x + mixed @ w_out.t()


def inputs(rng):
    yield rng.normal(2, 6, 8), rng.normal(24, 8, requires_grad=True), rng.normal(8, 8, requires_grad=True)
