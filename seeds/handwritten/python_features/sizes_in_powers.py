"""Sizes as bases and exponents, positive and negative."""


def program(x):
    n = x.shape[0]
    powers = (
        n ** (-1), n**2, 2**n, (-n) ** 3, n**0.5, n ** (-0.5), pow(n, 3, 5),
    )
    exponents = (
        (-n) ** 2, 2.0**n, 0**n, n**0, n**n, pow(2, -n),
    )
    return powers, exponents, x + 1


def inputs(rng):
    yield rng.normal(3, requires_grad=True)
    yield rng.normal(4, requires_grad=True)
    yield rng.normal(8, requires_grad=True)
