"""Eight steps of power iteration on a positive matrix, and gradients of the Rayleigh quotient."""

import torch


def program(a, start):
    gram = a @ a.mT
    v = start / start.norm()
    for _ in range(8):
        v = gram @ v
        v = v / torch.sqrt((v * v).sum())
    eigenvalue = v @ gram @ v
    residual = gram @ v / eigenvalue
    return eigenvalue, residual, torch.outer(v, v).diagonal().sum()


def inputs(rng):
    yield rng.uniform(9, 9, low=0.5, high=1.5, requires_grad=True), rng.uniform(9, low=0.5, high=1.0)
