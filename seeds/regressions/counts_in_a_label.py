"""Counts of letters in a label (docs/findings/135)."""

import collections


def program(values):
    return values + 1, "{!r}".format(collections.Counter("aab"))


def inputs(rng):
    yield (rng.normal(3, 2),)
