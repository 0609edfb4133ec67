"""Sizes as arguments of functions of integers and of the module math."""

import math


def program(x):
    n = x.shape[0]
    truncated = (
        int(n / 3), int(-n / 3), math.floor(-n / 3), math.ceil(-n / 3), math.trunc(-n / 3), abs(-n), math.gcd(n, 6),
        n.bit_length(), math.isqrt(n), math.sqrt(n), math.log2(n), float(n),
    )
    counted = (
        bool(n - 3), math.comb(n, 2), math.factorial(n), math.lcm(n, 4), math.perm(n, 2), math.prod([n, 2]),
        n.bit_count(), n.conjugate(), n.real, n.imag, n.numerator, n.denominator,
    )
    parts = (
        n.as_integer_ratio(), n.to_bytes(2, "big"), n.__index__(), int.from_bytes(b"ab", "big") + n,
        isinstance(n, int), type(n) is int, complex(n, 1), int(True) + n, math.dist([n], [1]), math.fsum([n, 0.1]),
        math.log(n), math.log(n, 3),
    )
    mapped = (
        math.log1p(n), math.pow(n, 2), math.exp(n), math.cbrt(n), math.degrees(n), math.isclose(n, 3),
        math.gamma(n), math.erf(n), math.nextafter(n, 0), math.ulp(n),
    )
    return truncated, counted, parts, mapped, x + 1


def inputs(rng):
    yield rng.normal(3)
    yield rng.normal(4)
    yield rng.normal(8)
