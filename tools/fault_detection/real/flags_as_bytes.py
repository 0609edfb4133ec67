"""Byte masks: whether a row has any flag, in arithmetic that wraps."""

# /// defect
# cause = "The lowering of any gives bool where eager keeps uint8"
# url = "https://github.com/pytorch/pytorch/issues/198081"
# torch = ">=2.13"
# kinds = ["wrong-metadata", "wrong-result"]
# regex = 'any'
# ///

import torch


def program(flags):
    alarm = torch.any(flags, 1)
    return alarm, alarm * 200 + 100, torch.all(flags, 1)


def inputs(rng):
    yield (rng.integers(0, 2, 5, 9, dtype=torch.uint8),)
