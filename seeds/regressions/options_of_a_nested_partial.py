"""What a partial of a partial will be called with (docs/findings/134)."""

import functools


def program(values):
    chosen = functools.partial(functools.partial(max, 1, key=abs), 4)
    return values + 1, chosen.args, sorted(chosen.keywords)


def inputs(rng):
    yield (rng.normal(3, 2),)
