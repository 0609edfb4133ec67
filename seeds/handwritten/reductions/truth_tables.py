"""any, all and counting over boolean tables and their implications."""

import torch


def program(a, b):
    implies = ~a | b
    same = ~(a ^ b)
    rows = implies.all(dim=1)
    columns = torch.any(a & b, dim=0)
    counted = same.sum(dim=1) + a.to(torch.int32).sum(dim=1)
    most = same.sum(dim=0) * 2 > same.shape[0]
    share = torch.mean(implies.float(), dim=1)
    return (
        rows,
        columns,
        counted - torch.count_nonzero(implies, dim=1),
        most,
        share,
        torch.logical_xor(a, b).any(),
    )


def inputs(rng):
    yield rng.booleans(40, 32), rng.booleans(40, 32, p=0.8)
    yield rng.booleans(6, 1), rng.booleans(1, 9, p=0.8)
