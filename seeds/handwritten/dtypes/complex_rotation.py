"""Rotary position embedding with complex numbers: polar, product, conjugate, real view."""

import torch


def program(x, positions):
    pairs = torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2))
    rates = 1.0 / 100 ** (torch.arange(0, x.shape[-1], 2, device=x.device) / x.shape[-1])
    angle = torch.outer(positions, rates)
    turn = torch.polar(torch.ones_like(angle), angle)
    turned = pairs * turn
    back = turned * turn.conj()
    magnitude = torch.sqrt(turned.real**2 + turned.imag**2)
    return torch.view_as_real(turned).flatten(-2), magnitude - pairs.abs(), back.real + back.imag


def inputs(rng):
    yield rng.normal(2, 9, 8, requires_grad=True), rng.integers(0, 12, 9, dtype=torch.float32)
