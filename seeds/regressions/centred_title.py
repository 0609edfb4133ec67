"""A title as wide as a row (docs/findings/046)."""


def program(x):
    return x + 1, "mean".center(x.shape[1], "-")


def inputs(rng):
    for columns in (6, 8):
        yield rng.normal(2, columns)
