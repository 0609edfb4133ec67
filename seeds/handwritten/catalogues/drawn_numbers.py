"""Random numbers of many laws, some drawn twice, some multiplied with what has a gradient."""

import torch
import torch.nn.functional as F


def program(x):
    uniform = torch.rand_like(x) * x + torch.rand_like(x), torch.rand(4, 6) * x, torch.empty_like(x).uniform_(-1, 2)
    mixed = torch.rand_like(x) * x.cos() + torch.rand_like(x) * x
    normal = (
        torch.randn_like(x),
        x + torch.randn(4, 6) * 0.1,
        torch.normal(x.detach(), 0.5),
        torch.empty(6).normal_(1, 2),
    )
    tossed = (
        torch.bernoulli(torch.full_like(x, 0.3)),
        torch.bernoulli(x.detach().sigmoid()) * x,
        x.detach().bernoulli(0.7),
    )
    dropped = F.dropout(x, 0.4), F.dropout(F.dropout(x, 0.2), 0.2), F.alpha_dropout(x, 0.3), F.dropout1d(x[None], 0.5)
    whole = torch.randint(0, 9, (5,)), torch.randint_like(x, 3), torch.randperm(7)
    other = torch.empty_like(x).exponential_(2.0), F.rrelu(x, training=True), F.gumbel_softmax(x, 0.5, hard=True)
    return uniform, normal, tossed, dropped, whole, other, mixed


def inputs(rng):
    yield (rng.normal(4, 6, requires_grad=True),)
