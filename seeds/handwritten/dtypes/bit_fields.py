"""Fields packed into and unpacked from int16, int32 and uint8 words."""

import torch


def program(red, green, blue):
    r, g, b = (c.to(torch.int32) for c in (red, green, blue))
    packed = ((r >> 3) << 11) | ((g >> 2) << 5) | (b >> 3)
    again = torch.stack([(packed >> 11) & 31, (packed >> 5) & 63, packed & 31], dim=-1)
    word = (packed & 0x7FFF).to(torch.int16)
    parity = word ^ (word >> 1)
    grey = ((r * 77 + g * 150 + b * 29) // 256).to(torch.uint8)
    return packed, again.sum(dim=0), parity & 1, grey, ~grey, grey.amax(dim=1)


def inputs(rng):
    yield tuple(rng.integers(0, 256, 10, 48, dtype=torch.uint8) for _ in range(3))
    yield tuple(rng.integers(0, 256, 3, 7, dtype=torch.uint8) for _ in range(3))
