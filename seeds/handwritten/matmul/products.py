"""Matrix chains, products added to a bias, outer products and traces, as operators and as functions."""

import torch


def program(a, b, c, table, base, u, v):
    chain = (a @ b) @ c
    joint = a @ (b + c.t()) + (a @ b + a @ c.t())
    scaled = (0.5 * a) @ b
    shifted = table + a @ b
    fused = torch.addmm(table, a, b) - torch.mm(a, b)
    images = base @ base
    batched = base + base @ images
    blended = torch.baddbmm(base, images, base) + torch.bmm(images, base)
    weighed = torch.addmm(table, a, b, beta=0.5, alpha=2) - (0.5 * table + 2 * (a @ b))
    moved = (a + a.flip(0)) @ b - (a @ b + a.flip(0) @ b) * torch.linalg.multi_dot([a, b, c]).sum()
    square = b @ c
    cubed = torch.linalg.matrix_power(square, 3) + square @ square @ square
    nested = torch.kron(a, square)
    rank_one = torch.outer(u, v) + u.unsqueeze(1) * v.unsqueeze(0)
    energy = torch.dot(v, v) + torch.trace(chain @ rank_one)
    return (
        weighed + moved,
        cubed,
        nested.sum(dim=1),
        joint + scaled * shifted,
        fused,
        batched + blended,
        b @ v,
        torch.diagonal(chain @ chain.t()) + energy,
    )


def inputs(rng):
    yield (
        rng.normal(6, 5),
        rng.normal(5, 7),
        rng.normal(7, 5),
        rng.normal(6, 7),
        rng.normal(3, 4, 4),
        rng.normal(5),
        rng.normal(7),
    )
