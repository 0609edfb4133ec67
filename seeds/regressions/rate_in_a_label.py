"""A label with a rate of two digits (docs/findings/044)."""


def program(x):
    rate = 0.123456
    return x * rate, format(rate, ".2f")


def inputs(rng):
    yield rng.normal(3, 2)
