"""Paths in a directed graph: integer matrix products, saturated to booleans."""

import torch


def program(edges, start):
    n = edges.shape[0]
    step = edges | torch.eye(n, dtype=torch.bool, device=edges.device)
    reach = step.to(torch.int64)
    for _ in range(3):
        reach = (reach @ reach > 0).to(torch.int64)
    walks = torch.matmul(edges.long(), edges.long())
    frontier = reach[start].sum(dim=0) > 0
    degree = edges.sum(dim=0) - edges.sum(dim=1)
    return reach.bool() & ~step, walks.amax(dim=1) * 2, frontier, degree.where(frontier, -degree)


def inputs(rng):
    yield rng.booleans(16, 16, p=0.15), rng.permutation(16)[:3]
    yield rng.booleans(9, 9, p=0.2), rng.permutation(9)[:3]
