"""Integer and comparison arithmetic written with torch's functions only, as exported programs are."""

import torch


def program(a, b):
    low = torch.bitwise_and(a, 15)
    high = torch.bitwise_right_shift(b, 4)
    packed = torch.bitwise_or(torch.bitwise_left_shift(high, 4), low)
    mixed = torch.bitwise_xor(packed, torch.bitwise_not(b))
    share = torch.remainder(mixed, 9)
    rounds = torch.floor_divide(mixed, 9)
    quarter = torch.div(torch.neg(rounds), 4)
    inside = torch.logical_and(torch.ge(share, 2), torch.le(share, 6))
    outside = torch.logical_or(torch.lt(share, 2), torch.gt(share, 6))
    repeated = torch.sub(torch.eq(low, high).sum(dim=0), torch.ne(low, share).sum(dim=0))
    return packed, quarter, torch.logical_not(inside), torch.add(share, torch.mul(rounds, 9)), outside, repeated


def inputs(rng):
    yield rng.integers(0, 256, 16, 66), rng.integers(0, 256, 16, 66)
    yield rng.integers(0, 256, 3, 5), rng.integers(0, 256, 3, 5)
