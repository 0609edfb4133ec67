"""A name with the number of rows in three digits (docs/findings/045)."""


def program(x):
    return x + 1, f"rows-{x.shape[0]:03d}"


def inputs(rng):
    for rows in (3, 4):
        yield rng.normal(rows, 2)
