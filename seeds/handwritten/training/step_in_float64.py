"""A training step of AdamW in float64, whose bias correction is computed compiled in float32 (pytorch #173901)."""

import torch
from torch import nn


class Program(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.linspace(-1, 1, 4, dtype=torch.float64))
        self.optimizer = torch.optim.AdamW([self.weight], lr=0.01)

    def forward(self, gradient):
        self.weight.grad = gradient
        self.optimizer.step()
        return self.weight.detach().clone()


def inputs(rng):
    yield (rng.normal(4, dtype=torch.float64),)
