"""A list as the key of a dictionary, which is refused whether or not a key is there (docs/findings/137)."""

refuses = True


def program(values):
    return values + 1, {1: 2}.get([1])


def inputs(rng):
    yield (rng.normal(3, 2),)
