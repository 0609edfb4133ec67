"""A hash of int64 keys from shifts, xors and remainders; exact in every element."""

import torch


def program(keys, salt):
    h = keys ^ (salt << 5)
    for shift in (3, 7, 11):
        h = (h ^ (h >> shift)) & 0xFFFFF
        h = h * 31 + (keys & 255)
    bucket = h % 97
    wrapped = torch.where(bucket > 48, bucket - 97, bucket)
    spread = salt * (h + keys) - (salt * bucket + salt * h)
    modulus = salt + 1
    parts = (keys * salt + h * salt) + (keys * modulus + keys * 3)
    rest = torch.remainder(h, modulus) + (h - modulus * torch.floor_divide(h, modulus)) - torch.fmod(parts, modulus)
    bound = torch.maximum(-(h - keys), salt**3) + bucket.sum()
    return bucket, wrapped, -wrapped // 3, ~h & 15, (bucket == 0) | (wrapped < 0), spread, bound, rest


def inputs(rng):
    yield rng.integers(0, 1 << 20, 50, 21), rng.integers(0, 1 << 15, 21)
    yield rng.integers(0, 1 << 20, 3, 21), rng.integers(0, 1 << 15, 21)
