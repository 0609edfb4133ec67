"""Ill-conditioned programs: cancellation, large condition numbers, long sums of mixed magnitudes, exp/log chains."""

from __future__ import annotations

import random

from eqfuzz.program.formats import recognise
from eqfuzz.program.program import Program

_SHAPE = """\
import torch
import torch.nn.functional as F


def program(x, y):
{body}


def inputs(rng):
    yield {first}, {second}
"""

_NORMAL = "rng.normal({rows}, {columns})"
_FAR = "rng.normal({rows}, {columns}) + {offset}"
_MIXED = "rng.normal({rows}, {columns}) * 10.0 ** rng.integers(-4, 5, {rows}, {columns}).float()"
_POSITIVE = "rng.uniform({rows}, {columns}, low=0.05, high=2.0)"

_BODIES = (
    (
        """\
    return (x * x).mean(1) - x.mean(1) ** 2, x - x.mean(1, keepdim=True) + y""",
        _FAR,
        _NORMAL,
    ),
    (
        """\
    return (x + {offset}) - {offset} - x * (1 - {tiny}), (x + y) ** 2 - x * x - y * y""",
        _NORMAL,
        _FAR,
    ),
    (
        """\
    total = x.sum() - x.flatten().flip(0).cumsum(0)[-1]
    return total, x.sum(1), (x * y).sum(0)""",
        _MIXED,
        _MIXED,
    ),
    (
        """\
    return torch.log(torch.exp(x / 3).sum(1)) - torch.logsumexp(x / 3, 1), torch.expm1(x * {tiny})""",
        _NORMAL,
        _NORMAL,
    ),
    (
        """\
    z = torch.log1p(torch.exp(x)) - F.softplus(x)
    return z, torch.exp(torch.log(x.abs() + {tiny}) * 3) - x.abs() ** 3""",
        _NORMAL,
        _NORMAL,
    ),
    (
        """\
    z = x
    for _ in range({steps}):
        z = torch.exp(torch.log(z) * 1.1) / (1 + z * y)
    return z""",
        _POSITIVE,
        _POSITIVE,
    ),
    (
        """\
    n = torch.arange({rows}, dtype=x.dtype)
    h = 1 / (n[:, None] + n[None, :] + 1)
    return h @ x, (h @ h - h.T @ h) @ x""",
        _NORMAL,
        _NORMAL,
    ),
    (
        """\
    a = x @ x.T + {tiny} * torch.eye({rows})
    return torch.linalg.solve(a + torch.eye({rows}), y), a.diagonal() - (x * x).sum(1)""",
        _NORMAL,
        _NORMAL,
    ),
    (
        """\
    z = (x - 1) ** 5
    return z - (x**5 - 5 * x**4 + 10 * x**3 - 10 * x**2 + 5 * x - 1), torch.sin(x * {offset})""",
        _POSITIVE,
        _NORMAL,
    ),
    (
        """\
    z = torch.softmax(x * {steps}, 1)
    return torch.log(z), (z * torch.log(z + {tiny})).sum(1), 1 - z.sum(1)""",
        _NORMAL,
        _NORMAL,
    ),
    (
        """\
    return torch.sqrt(x * x + y * y) - x.abs(), torch.atan2(x * {tiny}, y) - x * {tiny} / y""",
        _NORMAL,
        _FAR,
    ),
    (
        """\
    d = (x * x).sum(1)[:, None] - 2 * x @ y.T + (y * y).sum(1)[None]
    return d, F.cosine_similarity(x, y) - 1""",
        _FAR,
        _FAR,
    ),
    (
        """\
    z = x.cumsum(1) - x.flip(1).cumsum(1).flip(1)
    return z, torch.cumprod(1 + x * {tiny}, 1) - 1, x.var(1) - x.std(1) ** 2""",
        _MIXED,
        _NORMAL,
    ),
    (
        """\
    z = F.layer_norm(x, x.shape[1:])
    return z.mean(1), F.layer_norm(z * {tiny}, x.shape[1:]), (z * z).mean(1) - 1""",
        _FAR,
        _NORMAL,
    ),
    (
        """\
    z = torch.tanh(x) ** 2 + 1 / torch.cosh(x) ** 2 - 1
    return z, torch.sigmoid(x) + torch.sigmoid(-x) - 1, torch.erf(x) + torch.erfc(x)""",
        _NORMAL,
        _NORMAL,
    ),
)
"""The program's statements and the expressions of its two arguments; names in braces are sizes."""


def ill_conditioned_programs(count: int, seed: int) -> list[Program]:
    """``count`` small programs that lose digits, round-robin from every kind; equal for equal ``seed``."""
    rng = random.Random(f"hostile {seed}")
    programs = []
    for number in range(count):
        body, first, second = _BODIES[number % len(_BODIES)]
        sizes = {
            "rows": rng.choice((3, 8, 17)),
            "columns": rng.choice((5, 16, 67)),
            "offset": rng.choice((30.0, 300.0, 3000.0)),
            "tiny": rng.choice((1e-3, 1e-4, 1e-6)),
            "steps": rng.randint(3, 9),
        }
        filled = [text.format(**sizes) for text in (body, first, second)]
        source = _SHAPE.format(body=filled[0], first=filled[1], second=filled[2])
        programs.append(recognise(source, f"hostile-{number}.py"))
    return programs
