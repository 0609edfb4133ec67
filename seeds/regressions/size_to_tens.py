"""A size rounded to tens, as labels of an axis need it (docs/findings/043)."""


def program(x):
    return round(x.shape[0] * 7, -1), x + 1


def inputs(rng):
    for rows in (3, 4):
        yield rng.normal(rows, 2)
