"""Closures, nonlocal counters, a decorator and functools.partial around tensor arithmetic."""

import functools

import torch


def scaled(factor):
    def decorate(function):
        @functools.wraps(function)
        def wrapper(*args):
            return function(*args) * factor

        return wrapper

    return decorate


@scaled(0.5)
def mix(a, b):
    return torch.relu(a - b) + a * b


def program(x, y):
    calls = 0

    def step(t, power):
        nonlocal calls
        calls += 1
        return torch.sign(t) * t.abs() ** power + calls

    square = functools.partial(step, power=2)
    out = mix(square(x), step(y, 0.5))
    return out, square(out).mean(dim=0), calls


def inputs(rng):
    yield rng.normal(8, 17, requires_grad=True), rng.normal(8, 17)
