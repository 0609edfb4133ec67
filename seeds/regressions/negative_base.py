"""A scale that changes sign with the number of rows (docs/findings/041)."""


def program(x):
    scale = (-2) ** x.shape[0]
    return x + 1, scale


def inputs(rng):
    for rows in (3, 4):
        yield rng.normal(rows, 2)
