"""A branch on the number of rows, which lies in a range or not (docs/findings/047)."""


def program(x):
    if x.shape[0] in range(4):
        return x * 2
    return x / 2


def inputs(rng):
    for rows in (3, 4):
        yield rng.normal(rows, 2)
