"""Fused and scaled arithmetic with numbers: negative, fractional, on either side."""

import torch


def program(x, y, z):
    added = torch.add(x, y, alpha=-2), torch.sub(x, y, alpha=0.5), torch.rsub(x, 3), 1.5 - x, 2 / y.abs().add(1)
    fused = torch.addcmul(x, y, z, value=-0.5), torch.addcdiv(x, y, z.abs() + 1, value=2), x.addcmul(y, z, value=3)
    between = torch.lerp(x, y, 0.25), torch.lerp(x, y, 0.75), torch.lerp(x, y, z), x.lerp(y, 1.5)
    powers = x**2, x**3, x.abs() ** 0.5, y.abs().add(0.5) ** -1, y.abs().add(0.5) ** -2, torch.pow(2.0, x), 0.5**y
    quotients = (
        x // 0.5,
        x % 0.7,
        torch.fmod(x, 0.7),
        torch.remainder(x, -0.7),
        torch.div(x, 0.3, rounding_mode="trunc"),
    )
    scaled = torch.ldexp(x, torch.tensor(3)), torch.copysign(x, y), torch.hypot(x, y), torch.logaddexp(x, y)
    chosen = torch.clamp(x, y - 1, y + 1), torch.maximum(x, y), torch.fmin(x, z), torch.where(x > y, x, 0.5)
    rounded = torch.round(x * 3), torch.round(x, decimals=1), x.ceil(), x.floor(), x.trunc(), x.frac(), -x
    tested = torch.heaviside(x, y), torch.sign(x), torch.signbit(x), torch.isclose(x, y, atol=0.5), x.ge(0.1)
    return added, fused, between, powers, quotients, scaled, chosen, rounded, tested


def inputs(rng):
    yield rng.normal(5, 7), rng.normal(5, 7), rng.normal(7)
