"""A module that keeps Python state: a call counter, a history list and the tensor of the previous call."""

import torch
from torch import nn


class Program(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0
        self.history = []
        self.previous = None

    def forward(self, x):
        self.calls += 1
        self.history.append(x.shape[0])
        change = x if self.previous is None else x - self.previous
        self.previous = x * 1
        scaled = change * self.calls + len(self.history)
        return scaled, torch.cumsum(change, dim=0) / 2, scaled.amax(dim=-1) > 0


def inputs(rng):
    for _ in range(3):
        yield rng.integers(-7, 8, 5, 40, dtype=torch.float32)
