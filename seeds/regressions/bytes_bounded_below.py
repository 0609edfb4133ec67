"""Grey values between a bound that is below all of them and one that is not (docs/findings/021)."""

import torch


def program(grey):
    return torch.clamp(grey, -1, 100)


def inputs(rng):
    yield (rng.integers(0, 256, 4, 5, dtype=torch.uint8),)
