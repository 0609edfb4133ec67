"""A window of a buffer that is scaled in place, apart from the other window at first (docs/findings/082)."""


def program(x, y):
    y.mul_(2)
    return x + y


def inputs(rng):
    yield rng.normal(4), rng.normal(4)
    waves = rng.normal(6)
    yield waves[:4], waves[2:]
