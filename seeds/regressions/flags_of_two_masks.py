"""Flags that one of two masks has, in some places of a longer mask (docs/findings/129)."""


def program(first, second):
    return first.add_(second, alpha=2)


def inputs(rng):
    yield rng.booleans(32, p=0.9)[:4], rng.booleans(4, p=0.9)
