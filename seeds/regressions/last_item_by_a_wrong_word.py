"""The last item, asked for with a keyword that there is not (docs/findings/133)."""

from collections import OrderedDict

refuses = True


def program(values):
    return values + 1, OrderedDict(a=1, b=2).popitem(start=2)


def inputs(rng):
    yield (rng.normal(3, 2),)
