"""The same tensor returned several times, constants, sizes and gradients in one structure."""

import torch


def program(x, y):
    product = x * y
    root = torch.sqrt(product * product + 1)
    pair = [product, root]
    return {
        "pair": pair,
        "again": pair[0],
        "reversed": tuple(reversed(pair)),
        "shape": tuple(x.shape),
        "ratio": product / root,
        "flag": x.is_floating_point(),
        "zeros": x.new_zeros(2, 3),
    }


def inputs(rng):
    yield rng.normal(4, 7, requires_grad=True), rng.normal(4, 7, requires_grad=True)
