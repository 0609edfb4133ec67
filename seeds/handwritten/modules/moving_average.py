"""Exponential moving averages of mean and square in buffers, and a step counter, without gradients."""

import torch
from torch import nn


class Program(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(10))
        self.register_buffer("square", torch.ones(10))
        self.register_buffer("steps", torch.tensor(0))
        self.decay = 0.75

    def forward(self, x):
        if self.training:
            self.steps += 1
            self.mean.mul_(self.decay).add_(x.mean(dim=0) * (1 - self.decay))
            self.square = self.square * self.decay + (x**2).mean(dim=0) * (1 - self.decay)
        variance = (self.square - self.mean**2).clamp(min=0.01)
        z = (x - self.mean) / variance.sqrt()
        return torch.where(z > 0, z, z / 4), z.amax(dim=1) + self.steps


def inputs(rng):
    yield rng.normal(20, 10)
    yield rng.normal(20, 10)
    yield rng.normal(9, 10)
