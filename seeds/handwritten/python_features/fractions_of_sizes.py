"""Floats made of sizes: rounding, remainders, parts, functions of the module math."""

import math


def program(x):
    f = x.shape[0] / 3
    rounded = (
        f // 1, f % 1, -f // 1, -f % 1, math.fmod(-f, 1), math.copysign(f, -1), math.modf(f), math.hypot(f, 1),
        math.exp(f), math.sin(f), int(f),
    )
    parts = (
        round(f), round(f, 2), f.is_integer(), f.hex(), divmod(f, 0.7), math.frexp(f), math.ldexp(f, 2),
        math.remainder(f, 1), math.atan2(f, -1), abs(-f), f.as_integer_ratio(),
    )
    compared = (
        -f, +f, f**2, f * 0.0, -f * 0.0, max(f, 1), min(f, 1.0), f == 1, f < 2, math.isnan(f), math.isinf(f),
    )
    mapped = (
        math.isfinite(f), float("inf") * f, f - float("inf"), math.floor(f), math.ceil(f), math.tanh(f),
        math.asin(f / 4), bool(f), str(f), f"{f}", complex(f),
    )
    return rounded, parts, compared, mapped, x + 1


def inputs(rng):
    yield rng.normal(3)
    yield rng.normal(4)
    yield rng.normal(8)
