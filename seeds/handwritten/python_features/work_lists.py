"""Loops over lists that grow and shrink meanwhile, and over ranges cut, stepped and turned around."""

import torch


def program(x, y):
    work, total = [x], x * 0
    for item in work:
        total = total + item
        if len(work) < 5:
            work.append(item * 0.5 + y)
    for i in range(5)[::-1]:
        total = total * 0.5 + x * i
    for i in reversed(range(1, 9)[2:-1:3]):
        total = total - y / i
    while len(work) > 1:
        total = total + work.pop() * len(work)
    stack, seen = [3], []
    while stack:
        number = stack.pop()
        seen.append(number)
        stack.extend(range(number)[-2:])
    return total, torch.stack(work), seen, [n for n in range(10)[8:1:-2]], sum(range(20)[::7])


def inputs(rng):
    yield rng.normal(3), rng.normal(3)
