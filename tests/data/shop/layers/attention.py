"""Attention of one head."""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F

from ..config import Config


class Block(nn.Module):
    """Attention of one head."""

    def __init__(self, config: Config):
        super().__init__()
        self.qkv = nn.Linear(config.width, 3 * config.width)
        self.scale = 1 / math.sqrt(config.width)

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, -1)
        mask = torch.ones(x.shape[1], x.shape[1]).tril().bool()
        scores = (q @ k.transpose(1, 2) * self.scale).masked_fill(~mask, float("-inf"))
        return F.softmax(scores, -1) @ v
