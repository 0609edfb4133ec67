"""Causal linear attention: an elu feature map and a cumulative sum of outer products."""

import torch
import torch.nn.functional as F


def feature(x):
    return F.elu(x) + 1.1


def program(q, k, v):
    fq, fk = feature(q), feature(k)
    outer = fk.unsqueeze(-1) * v.unsqueeze(-2)
    memory = outer.cumsum(dim=1)
    top = (fq.unsqueeze(-2) @ memory).squeeze(-2)
    bottom = (fq * torch.cumsum(fk, dim=1)).sum(-1, keepdim=True)
    return top / bottom, memory[:, -1].transpose(1, 2)


def inputs(rng):
    yield rng.normal(2, 12, 4), rng.normal(2, 12, 4), rng.normal(2, 12, 5)
    yield rng.normal(1, 20, 4), rng.normal(1, 20, 4), rng.normal(1, 20, 5)
