"""Whether anything is present, as a sum in bool (docs/findings/030)."""

import torch


def program(marks):
    return torch.sum(marks, dtype=torch.bool), torch.prod(marks.to(torch.float32), dtype=torch.bool)


def inputs(rng):
    yield (rng.integers(0, 2, 20, dtype=torch.uint8),)
