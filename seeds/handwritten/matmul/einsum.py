"""Bilinear forms, batched outer products, traces and a tensor contraction by einsum."""

import torch


def program(x, y, w):
    form = torch.einsum("bi,ij,bj->b", x, w, y)
    outer = torch.einsum("bi,bj->bij", x, y)
    direct = ((x @ w) * y).sum(dim=1)
    trace = torch.einsum("bii->b", outer[:, :5, :5])
    contracted = torch.tensordot(outer, w, dims=([1, 2], [0, 1]))
    return form + direct, trace, contracted / 10, outer.transpose(1, 2) @ w


def inputs(rng):
    yield rng.normal(6, 5), rng.normal(6, 7), rng.normal(5, 7, requires_grad=True)
