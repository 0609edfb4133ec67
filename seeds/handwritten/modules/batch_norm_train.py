"""Convolution and BatchNorm in training mode: running statistics change with every call."""

import torch
import torch.nn.functional as F
from torch import nn


class Program(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 6, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(6, momentum=0.3)
        self.head = nn.Linear(6, 4)

    def forward(self, x):
        x = F.relu(self.norm(self.conv(x)))
        pooled = x.mean(dim=(2, 3))
        return torch.log_softmax(self.head(pooled), dim=-1)


def inputs(rng):
    yield rng.normal(4, 3, 6, 6)
    yield rng.normal(4, 3, 6, 6)
