"""0-d tensors, Python numbers and one-element tensors in the same expressions."""

import torch


def program(scalar, vector, number):
    grown = scalar * vector + number
    total = grown.sum()
    back = total / scalar - number**2
    chosen = torch.where(scalar > 0, vector, -vector)
    stacked = torch.stack([scalar, total, back.reshape(())])
    return (
        stacked,
        grown[0] - scalar,
        chosen.mean().unsqueeze(0),
        total.item() > 0,
        torch.cat([stacked, vector]),
    )


def inputs(rng):
    yield rng.uniform(low=1, high=2), rng.uniform(7), 3
    yield rng.uniform(low=1, high=2), rng.uniform(1), 2
