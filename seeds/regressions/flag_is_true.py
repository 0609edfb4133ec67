"""A branch on a comparison of a size that is asked for by identity (docs/findings/049)."""


def program(x):
    large = x.shape[0] > 3
    if large is True:
        return x * 2
    return x / 2


def inputs(rng):
    for rows in (3, 4):
        yield rng.normal(rows, 2)
