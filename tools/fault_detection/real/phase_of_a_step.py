"""A step number, taken modulo the length of a cycle, scales a tensor."""

# /// defect
# cause = "The pass that makes tensors of Python scalars has no handler for Python's modulo"
# url = "https://github.com/pytorch/pytorch/issues/197716"
# torch = ">=2.13"
# kinds = ["compiler-crash", "exception-mismatch"]
# ///

import torch


def program(x, step):
    phase = float(step % 4)
    return torch.cos(x * phase), x + 1


def inputs(rng):
    yield rng.normal(3, 4), 5
    yield rng.normal(3, 4), 6
    yield rng.normal(3, 4), 11
