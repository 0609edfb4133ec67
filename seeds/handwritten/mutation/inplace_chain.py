"""A chain of in-place operations on a copy, compared with the untouched input."""

import torch


def program(x, y):
    z = x.clone()
    z.add_(y, alpha=2).mul_(0.5)
    z[0].zero_()
    z[:, 1:3].clamp_(-1, 1)
    z.masked_fill_(y > 1, 3.0)
    w = z.sub(x)
    w *= y
    w[-1] -= 1
    t = torch.cat([x, y], 1)
    t += 1
    t *= 0.5
    return t, y.clone().fill_(0.25), z, w.relu_(), torch.sum(z - x, dim=1)


def inputs(rng):
    yield rng.normal(7, 20, requires_grad=True), rng.normal(7, 20)
