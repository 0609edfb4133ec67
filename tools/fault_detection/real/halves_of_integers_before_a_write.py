"""The 32-bit halves of integers are counted up, then the integers are overwritten."""

# /// defect
# cause = "Inductor computes the reader of a dtype view after a later write to what it views"
# url = "https://github.com/pytorch/pytorch/issues/198101"
# torch = ">=2.13"
# kinds = ["wrong-result"]
# ///

import torch


def program(codes):
    halves = codes.view(torch.int32) * 2
    halves.sub_(-4)
    codes[:, 2:5] = 2
    return halves.view(torch.int64), codes.sum()


def inputs(rng):
    yield (rng.integers(-12, 12, 4, 6),)
