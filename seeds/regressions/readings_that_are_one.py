"""How many of two readings are one (docs/findings/132)."""


def program(values):
    return values + 1, [values[0], values[1]].count(1)


def inputs(rng):
    yield (rng.integers(1, 2, 3).float(),)
