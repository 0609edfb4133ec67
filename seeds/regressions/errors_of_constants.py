"""Steps and bases that Python refuses, and the program has an answer for (docs/findings/138)."""

import math


def program(x):
    try:
        steps = list(range(0, 3, 0))
    except ValueError:
        steps = [1]
    try:
        digits = math.log(8, 1)
    except ZeroDivisionError:
        digits = 0.0
    return x + len(steps), digits


def inputs(rng):
    yield (rng.normal(3),)
