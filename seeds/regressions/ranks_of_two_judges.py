"""Marks in order, once for each of two judges (docs/findings/141)."""


def program(marks):
    return marks.sort().values, marks.sort().values


def inputs(rng):
    yield (rng.normal(3, 2).requires_grad_(),)
