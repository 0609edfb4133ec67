"""Laws of exponents, logarithms and mixtures on positive quantities, with the gradient of one of them."""

import torch


def program(x, y, z):
    total = (x + y) + z
    weighted = x * (y + z) - (x * y + x * z) / 3
    doubled = (x + y) * 2
    decay = torch.exp(-x) + torch.exp(x) * torch.exp(y) + torch.exp(y + z)
    blend = x + y * (z - x)
    distance = torch.sqrt(x**2 + y**2)
    information = torch.log(x * y) - torch.log2(z)
    softened = 1 / torch.sqrt(y) + 0.5**z
    mirrored = z * -1
    return total / doubled, weighted, decay, torch.abs(y) * blend, distance + mirrored, information * softened


def inputs(rng):
    def positive(*size, **options):
        return rng.uniform(*size, low=0.5, high=2.0, **options)

    yield positive(7, 20, requires_grad=True), positive(7, 20), positive(7, 20)
