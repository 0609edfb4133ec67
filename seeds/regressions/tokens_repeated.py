"""Tokens are repeated by durations whose sum is not what was announced (docs/findings/112)."""

import torch

refuses = True


def program(tokens, durations):
    return torch.repeat_interleave(tokens, durations, dim=0, output_size=6)


def inputs(rng):
    yield rng.normal(3), torch.tensor([1, 2, 1])
