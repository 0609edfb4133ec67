"""One gradient-descent step of a linear model: loss, torch.autograd.grad, update by hand."""

import torch


def program(x, target, weight, bias):
    prediction = x @ weight + bias
    loss = ((prediction - target) ** 2).mean()
    g_weight, g_bias = torch.autograd.grad(loss, (weight, bias))
    with torch.no_grad():
        new_weight = weight - 0.1 * g_weight
        new_bias = bias - 0.1 * g_bias
    after = ((x @ new_weight + new_bias - target) ** 2).mean()
    return loss.detach(), new_weight, new_bias, after / 2


def inputs(rng):
    yield (
        rng.normal(12, 5),
        rng.normal(12, 2),
        rng.normal(5, 2, requires_grad=True),
        rng.normal(2, requires_grad=True),
    )
