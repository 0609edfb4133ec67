"""Tensors made of sizes, and arithmetic of sizes and tensors."""

import torch


def program(x):
    n = x.shape[0]
    made = (
        (*x.shape, 2), x.new_zeros(n), torch.arange(n), torch.arange(0, n, 2), torch.arange(n, 0, -1),
        torch.linspace(0, n, n), torch.full((n,), n), torch.full((2,), n / 2), torch.zeros(n, n - 1), torch.eye(n),
        torch.tensor(n), torch.tensor([n, 1]), torch.tensor(n / 2), torch.tensor([n / 2, n]), torch.tensor(n > 3),
        torch.as_tensor(n),
    )
    computed = (
        torch.scalar_tensor(n), x.new_tensor([n]), torch.ones(2) * n, torch.ones(2) / n, n / torch.ones(2),
        n - torch.ones(2), n ** torch.ones(2), torch.ones(2) ** n, n // torch.ones(2), n % torch.ones(2),
        torch.ones(2).long() * n, torch.ones(2).long() // n, torch.ones(2).long() * (n / 2),
        torch.ones(2, dtype=torch.int8) * n, torch.ones(2, dtype=torch.bool) * n, torch.ones(2).half() * (n / 3),
    )
    return made, computed, x + 1


def inputs(rng):
    yield rng.normal(3)
    yield rng.normal(4)
    yield rng.normal(8)
