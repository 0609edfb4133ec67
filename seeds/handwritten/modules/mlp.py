"""A two-layer perceptron with relu on 1,024 activations, layer norm and a residual."""

import torch
from torch import nn


class Program(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(12, 64)
        self.down = nn.Linear(64, 12)
        self.norm = nn.LayerNorm(12)
        self.act = nn.ReLU()

    def forward(self, x):
        hidden = self.act(self.up(x))
        out = self.norm(x + self.down(hidden) * 0.5)
        return out, torch.mean(hidden**2, dim=-1)


def inputs(rng):
    yield rng.normal(16, 12)
    yield rng.normal(5, 12)
