"""Sizes in integer and float division, with negative operands too."""


def program(x):
    n = x.shape[0]
    quotients = (
        -n // 3, -n % 3, n // -2, n % -3, divmod(-n, 4), divmod(n, -4), n // 3.0, n % 2.5,
    )
    remainders = (
        -n % 2.5, n / -2, 7 // n, -7 // n, -7 % n, 7 % -n, (n - 3) // 2, 0 // n,
    )
    return quotients, remainders, x + 1


def inputs(rng):
    yield rng.normal(3, requires_grad=True)
    yield rng.normal(4, requires_grad=True)
    yield rng.normal(8, requires_grad=True)
