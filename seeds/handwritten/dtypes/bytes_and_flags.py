"""Wrapping bytes, masks as numbers, integer quotients, half-type sums and rounding of quarter steps."""

import torch


def program(dark, light, flags, counts, quarters, half):
    wrapped = dark + light
    product = dark * light
    kept = counts * flags
    share = counts / (kept + 40)
    shifted = counts + quarters
    scaled = counts * quarters
    masked = flags.to(quarters.dtype) * quarters
    floor = torch.floor(quarters + 100)
    inward = torch.trunc(quarters) + torch.where(quarters >= 0, torch.floor(quarters), torch.ceil(quarters))
    wheel = torch.remainder(quarters, quarters.abs() + 0.25)
    ceiling = torch.ceil(quarters) + -torch.floor(-quarters)
    precise = quarters.to(torch.float64) * torch.frac(quarters)
    present = counts.bool() & flags
    grown = half + half.flip(0)
    return (
        grown,
        wrapped,
        product,
        share,
        shifted + scaled,
        masked + floor,
        ceiling + inward,
        precise,
        half * half + half.flip(0),
        wheel,
        present.long(),
    )


def inputs(rng):
    yield (
        rng.integers(0, 256, 8, 8, dtype=torch.uint8),
        rng.integers(0, 256, 8, 8, dtype=torch.uint8),
        rng.booleans(8, 8),
        rng.integers(-9, 10, 8, 8),
        rng.integers(-30, 31, 8, 8, dtype=torch.float32) / 4,
        rng.integers(-20, 21, 8, 8, dtype=torch.bfloat16),
    )
