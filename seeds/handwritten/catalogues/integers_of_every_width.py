"""Integer arithmetic of every width: sums, overflow, shifts, divisions with signs, bits and ranks."""

import torch


def program(b, i, n):
    sums = b.sum(), b.sum(0), i.sum(1), n.prod(1), b.cumsum(0), (b > 9).sum(0), i.sum(dtype=torch.int32)
    wrapped = b + b, b * 3, 5 - b, -i, i * i, i.abs(), ~b, b.clamp(3, 100), i << 1, i >> 2, torch.maximum(i, i.flip(0))
    floored = n // 3, n % 3, n // -3, n % -3, i // 2, b // 7, n.remainder(-4)
    divided = torch.div(n, 4, rounding_mode="trunc"), torch.fmod(n, -5), n / 4, b / 2
    bits = n & 6, n | 1, n ^ 5, b & 15, n.bitwise_not(), torch.gcd(n, n + 6), torch.lcm(n, n + 4)
    powers = n**2, n.pow(3), 2 ** (n % 5), n.bitwise_left_shift(2), n.sign(), n.square()
    ranked = n.argsort(), i.amax(), b.amin(1), i.max(1), n.median(), n.unique().sum(), n.topk(2).values
    counted = torch.bincount(b.flatten().long() % 5, minlength=5), n.eq(3).any(), n.ne(0).all(1)
    return sums, wrapped, floored, divided, bits, powers, ranked, counted


def inputs(rng):
    b, i = rng.integers(0, 256, 4, 7, dtype=torch.uint8), rng.integers(-90, 90, 4, 7, dtype=torch.int8)
    yield b, i, rng.integers(-50, 50, 4, 7)
