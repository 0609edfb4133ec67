"""Random programs with a given number of operators, for benchmarks."""

from __future__ import annotations

import random
from collections.abc import Iterator

from eqfuzz.program.formats import recognise
from eqfuzz.program.program import Program

OPERATORS = (
    "torch.sin({a})",
    "torch.exp(-{a}.abs())",
    "{a} + {b}",
    "{a} * {b}",
    "torch.relu({a})",
    "{a}.sum(-1, keepdim=True) + {b}",
    "torch.softmax({a}, -1)",
    "({a} @ {b}) / 16",
    "torch.where({a} > 0, {a}, {b})",
    "{a}.transpose(0, 1) + {b}",
    "torch.cumsum({a}, 0)",
    "torch.sigmoid({a})",
    "{a}.amax(0, keepdim=True) - {b}",
    "torch.cat([{a}, {b}], 0)[:16]",
)


def programs(operators: int, *, backward: bool, seed: int) -> Iterator[Program]:
    """Endless distinct seeds with two 16 × 16 float32 inputs, ``operators`` operators and two outputs."""
    rng = random.Random(f"{operators} {backward} {seed}")
    while True:
        names = ["x", "y"]
        lines = ["import torch", "", "", "def program(x, y):"]
        for number in range(operators):
            expression = rng.choice(OPERATORS).format(a=rng.choice(names[-3:]), b=rng.choice(names))
            lines.append(f"    v{number} = {expression}")
            names.append(f"v{number}")
        grad = ", requires_grad=True" if backward else ""
        lines += [f"    return {names[-1]}, {names[-2]}", "", "", "def inputs(rng):"]
        lines.append(f"    yield rng.normal(16, 16{grad}), rng.normal(16, 16{grad})")
        yield recognise("\n".join(lines) + "\n", "random.py")
