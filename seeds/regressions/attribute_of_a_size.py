"""A length that may be a tensor or a number (docs/findings/051)."""


def program(x):
    length = x.shape[0]
    try:
        length = length.shape
    except AttributeError:
        return x * 2
    return x / 2


def inputs(rng):
    for rows in (3, 4):
        yield rng.normal(rows, 2)
