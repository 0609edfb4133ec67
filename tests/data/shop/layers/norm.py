"""Normalisation that begins as the identity."""

from torch import nn


def _init(module):
    nn.init.ones_(module.weight)
    return module


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = _init(nn.LayerNorm(width))

    def forward(self, x):
        return self.norm(x)
