"""Elements and rows selected by masks, so that sizes depend on values; an early return when nothing is left."""

import torch


def program(x, keep):
    large = x > 2
    if not large.any():
        return x.sum(dim=1), x[keep]
    chosen = x[large]
    same = torch.masked_select(x, large)
    rows = x[keep]
    places = torch.nonzero(keep).squeeze(1)
    agreed = torch.tensor(torch.equal(chosen, same))
    centred = rows - rows.mean(dim=0)
    return (
        chosen * 2 - same,
        centred,
        places.sum() + chosen.numel(),
        torch.zeros_like(x).masked_fill(large, 1.0),
        agreed,
    )


def inputs(rng):
    yield rng.integers(-8, 9, 6, 8, dtype=torch.float32), rng.booleans(6, p=0.7)
    yield rng.integers(-8, 9, 9, 8, dtype=torch.float32), rng.booleans(9, p=0.4)
    yield rng.integers(-8, 2, 5, 8, dtype=torch.float32), rng.booleans(5)
