"""Bits of sizes: and, or, xor, shifts, complements."""


def program(x):
    n = x.shape[0]
    masked = (
        n & 3, n | 8, n ^ 5, ~n, n << 2, n >> 1, -n >> 1, -n & 7,
    )
    shifted = (
        1 << n, 64 >> n, n & True, n & -n, n.__and__(1), 5 & n, 5 | n, 5 ^ n,
    )
    return masked, shifted, x + 1


def inputs(rng):
    yield rng.normal(3, requires_grad=True)
    yield rng.normal(4, requires_grad=True)
    yield rng.normal(8, requires_grad=True)
