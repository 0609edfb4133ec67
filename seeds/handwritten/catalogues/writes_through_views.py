"""Arguments, their views and results written in place, also without gradients, and handed back."""

import torch


def program(x, y, z, weight):
    x[1].mul_(2)
    x[:, ::2].add_(1)
    x.t()[0].sub_(y[:, 0])
    x.diagonal().fill_(3.0)
    flat = y.view(-1)
    flat[3:9].clamp_(max=0.1)
    y.unsqueeze(0)[0, -1] = x[0]
    turned = z.t()
    turned.copy_(x)
    z.narrow(1, 1, 2).neg_()
    with torch.no_grad():
        weight.mul_(0.5).add_(x[0], alpha=0.1)
        weight[0] = 1.0
    torch.add(x, y, out=z[:, :])
    row = x[2]
    grown = (weight * row).sin()
    activated = torch.nn.functional.elu_(weight * 3.0), (weight * 2).relu_(), torch.sigmoid_(weight + 1)
    whole = x.expand(2, 4, 4).clone()
    whole[1] = whole[0].t()
    left, right = (x * 2).chunk(2)
    left += right
    return row, y[1:], x.t(), flat, grown, grown.view(2, 2), activated, whole, left, right


def inputs(rng):
    yield rng.normal(4, 4), rng.normal(4, 4), rng.normal(4, 4).t(), rng.normal(4, requires_grad=True)
