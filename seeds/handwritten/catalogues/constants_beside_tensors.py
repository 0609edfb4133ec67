"""Zeros, ones and other constants beside tensors, where a compiler folds."""

import torch


def program(x, n):
    zeros, ones, full = torch.zeros_like(x), torch.ones_like(x), torch.full_like(x, 2.0)
    nothing = zeros - x, (x - zeros).sin(), zeros * x, (x + 0).cos(), 0 - x, (zeros + x).exp(), torch.zeros(5, 6) - x
    unit = (ones * x).sin(), (x / ones).tan(), (x * 1).abs(), (x**1).sqrt(), x**0, full**-1, x * -1, ones - x
    doubled = full * x, x * full / 2, x / full, full - full, torch.full((5, 6), 0.5) * x
    integers = n * 0, n + 0, n * 1, n - n, torch.zeros_like(n) - n, n // 1, n % 1, n & 0, n | 0, n ^ n
    logic = torch.ones_like(n, dtype=torch.bool) & (n > 0), (n > 0) | False, (n > 0) == True, (n > 0) ^ True  # noqa: E712
    filled = (
        torch.cat([zeros, x]),
        torch.stack([ones, x]),
        torch.where(ones > 0, x, zeros),
    )
    made = torch.arange(6) - n, torch.linspace(0, 1, 6) * x, torch.eye(5) @ x, torch.tensor([1.0, 2, 3, 4, 5, 6]) + x
    return nothing, unit, doubled, integers, logic, filled, made


def inputs(rng):
    yield rng.normal(5, 6), rng.integers(-9, 9, 4, 6)
