"""Adam's update of two parameters given their gradients, with decoupled weight decay, in place."""

import torch


def program(parameters, gradients, firsts, seconds, step):
    norm = torch.sqrt(sum((g**2).sum() for g in gradients))
    factor = torch.clamp(1.0 / (norm + 1e-6), max=1.0)
    for p, g, m, v in zip(parameters, gradients, firsts, seconds):
        g = g * factor
        m.mul_(0.9).add_(g, alpha=0.1)
        v.mul_(0.99).addcmul_(g, g, value=0.01)
        m_hat = m / (1 - 0.9**step)
        v_hat = v / (1 - 0.99**step)
        p.mul_(1 - 0.01).sub_(0.1 * m_hat / (v_hat.sqrt() + 1e-3))
    return norm, [p.abs().sum() for p in parameters]


def inputs(rng):
    def pair(make):
        return [make(7, 9), make(9)]

    zeros = torch.zeros
    for step in (1, 2):
        yield pair(rng.normal), pair(rng.normal), pair(zeros), pair(zeros), step
