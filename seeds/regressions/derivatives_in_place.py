"""Derivatives of the digamma function, written in place (docs/findings/140)."""


def program(x):
    return (x + 1).polygamma_(1)


def inputs(rng):
    yield (rng.uniform(3, low=1.0, high=2.0),)
