"""Weights that pass through half on their way to bfloat16 (docs/findings/028)."""


def program(weights):
    return (weights * 1e4).half().bfloat16()


def inputs(rng):
    yield (rng.uniform(3, 4, low=1.0, high=12.0),)
