"""Integer square roots and logarithms bit by bit, with where in a Python loop; every comparison is exact."""

import torch


def program(numbers):
    root = torch.zeros_like(numbers)
    bits = torch.zeros_like(numbers)
    for position in range(3, -1, -1):
        trial = root | (1 << position)
        root = torch.where(trial * trial <= numbers, trial, root)
    rest = numbers
    while int(rest.amax()) > 1:
        bits = bits + (rest > 1)
        rest = rest // 2
    square = (root**2 == numbers) & (bits % 2 == 0)
    return root, numbers - root * root, bits, square.sum(dim=0)


def inputs(rng):
    yield rng.integers(1, 250, 20, 60)
    yield rng.integers(1, 90, 5, 3)
