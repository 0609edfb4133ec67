"""Conway's game of life on a torus: rolls, sums of bool as int32, logical operators."""

import torch


def step(alive):
    cells = alive.to(torch.int32)
    around = torch.zeros_like(cells)
    for dy in (-1, 0, 1):
        for dx in (-1, 0, 1):
            if dy or dx:
                around = around + torch.roll(cells, (dy, dx), dims=(0, 1))
    return (around == 3) | (alive & (around == 2))


def program(alive):
    first = step(alive)
    second = step(first)
    return second, first ^ second, second.sum(dim=0), ~(alive & second)


def inputs(rng):
    yield rng.booleans(24, 40, p=0.3)
    yield rng.booleans(8, 9, p=0.4)
