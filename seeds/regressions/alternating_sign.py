"""Sign of a permutation that reverses all rows, times the rows (docs/findings/042)."""


def program(x):
    return x * (-1) ** x.shape[0]


def inputs(rng):
    for rows in (3, 4):
        yield rng.normal(rows, 2)
