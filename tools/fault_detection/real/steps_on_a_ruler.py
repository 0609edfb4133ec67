"""Positions counted in steps of a ruler, and what is left of the last step."""

# /// defect
# cause = "Floor division is lowered to the floor of a rounded quotient"
# url = "https://github.com/pytorch/pytorch/issues/197895"
# torch = ">=2.13"
# kinds = ["wrong-result"]
# regex = '\b(div|floor_divide)\b'
# ///

import torch


def program(positions, step):
    steps = positions // step
    return steps, torch.bincount(steps.long(), minlength=40)


def inputs(rng):
    yield rng.integers(1, 30, 12, dtype=torch.float32) * 0.1, torch.tensor(0.1)
