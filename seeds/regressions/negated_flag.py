"""Minus one where there are many rows, else zero (docs/findings/048)."""


def program(x):
    large = x.shape[0] > 3
    return x * 2, -large


def inputs(rng):
    for rows in (3, 4):
        yield rng.normal(rows, 2)
