"""Gradients and losses by torch.func.grad_and_value inside the program, with momentum over three steps."""

import torch
import torch.nn.functional as F


def loss(weights, x, y):
    hidden = torch.tanh(x @ weights["in"])
    return F.mse_loss(hidden @ weights["out"], y)


def program(weights, x, y):
    velocity = {name: torch.zeros_like(w) for name, w in weights.items()}
    losses = []
    for _ in range(3):
        gradients, value = torch.func.grad_and_value(loss)(weights, x, y)
        velocity = {name: 0.9 * velocity[name] - 0.05 * gradients[name] for name in weights}
        weights = {name: w + velocity[name] for name, w in weights.items()}
        losses.append(value)
    return weights, torch.stack(losses)


def inputs(rng):
    yield {"in": rng.normal(4, 6), "out": rng.normal(6, 2)}, rng.normal(10, 4), rng.normal(10, 2)
