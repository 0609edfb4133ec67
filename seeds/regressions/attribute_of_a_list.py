"""A list that is asked for what only arrays have, with an answer for lists (docs/findings/051)."""


def program(x):
    try:
        kind = [2].dtype
    except AttributeError:
        kind = "list"
    return x + 1, kind


def inputs(rng):
    yield (rng.normal(3),)
