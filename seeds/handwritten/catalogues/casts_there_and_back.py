"""Casts between floats, integers and bools, there and back, and the promotion of mixed operands."""

import torch


def program(b, i, n, f):
    there = f.to(torch.int32), f.to(torch.int8).to(torch.float32), f.bool(), f.half() * 2, f.bfloat16().sum(0)
    bytes_ = (f * 20 + 90).to(torch.uint8).float(), (f * 20).long().double(), f.double().float(), f.round().int().bool()
    back = n.float() / 2, n.to(torch.int16).long(), b.to(torch.int8), i.to(torch.uint8), n.bool(), b.double() + 0.5
    mixed = b + n, i + f, b * 1.5, n + True, (n > 0) + (f > 0).to(torch.int8), (n > 0).long() * n, b + i, f + f.double()
    chosen = torch.where(n > 0, i, n), torch.cat([i, n]), torch.stack([f, f.double()]), n.clamp(min=0.5), n * 2.0
    wrapped = n.to(torch.uint8).int(), (n * 9).to(torch.int8).long(), b.to(torch.int8).to(torch.int16), i.byte().int()
    narrowed = f.half().float(), f.double().bfloat16().float(), (n * 1000).float().long(), f.long().to(torch.uint8)
    kept = f.to(f), f.type_as(n), n.new_full((2,), 3.7), torch.full_like(n, 2, dtype=torch.float64), b.float().mean()
    return there, bytes_, back, mixed, chosen, wrapped, narrowed, kept


def inputs(rng):
    b, i = rng.integers(0, 256, 4, 7, dtype=torch.uint8), rng.integers(-90, 90, 4, 7, dtype=torch.int8)
    yield b, i, rng.integers(-50, 50, 4, 7), rng.uniform(4, 7) * 4 + 0.3
