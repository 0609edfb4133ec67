"""A small GPT-like model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
import torch.utils.checkpoint
from torch import nn

from shop import layers
from shop.config import Config
from shop.layers import Block

if TYPE_CHECKING:
    pass


class Net(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.embed = nn.Embedding(config.vocabulary, config.width)
        self.blocks = nn.ModuleList([Block(config) for _ in range(config.depth)])
        self.norm = layers.norms.Block(config.width)

    def forward(self, tokens):
        x = self.embed(tokens)
        for block in self.blocks:
            x = x + torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False)
        return self.norm(x) @ self.embed.weight.t()
