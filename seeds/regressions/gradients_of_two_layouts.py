"""An optimizer's step with a gradient that is stored in columns, and one with a gradient in rows."""

import torch
from torch import nn


class Program(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3, 4))
        self.optimizer = torch.optim.SGD([self.weight], lr=0.1)

    def forward(self, x, y):
        for gradient in (x * 2, y * 2):
            self.weight.grad = gradient
            self.optimizer.step()
        return self.weight.detach().clone()


def inputs(rng):
    yield rng.normal(4, 3).t(), rng.normal(3, 4)
