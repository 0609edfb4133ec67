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
    traded = x * z + y * z - (x + 2 * y * z) * (y + 3 * x / z)
    moved = -(x - y) + torch.addcmul(x, y, z, value=0.5) - torch.addcdiv(y, x, z, value=2)
    softened = 1 / torch.sqrt(y) + 0.5**z
    mirrored = z * -1
    return (
        total / doubled + traded,
        weighted * moved,
        decay,
        torch.abs(y) * blend,
        distance + mirrored,
        information * softened,
    )


def inputs(rng):
    def positive(*size, **options):
        return rng.uniform(*size, low=0.5, high=2.0, **options)

    yield positive(7, 20, requires_grad=True), positive(7, 20), positive(7, 20)
