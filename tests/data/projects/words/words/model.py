"""A tagger of words."""

import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self, words=50, width=16, tags=4):
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.mix = nn.Sequential(nn.Linear(width, width), nn.ReLU())
        self.out = nn.Linear(width, tags)

    def forward(self, words):
        h = self.embedding(words)
        h = h + self.mix(h.cumsum(1) / torch.arange(1, words.shape[1] + 1)[:, None])
        return self.out(h)


def score(tags, gold):
    """The mean negative logarithm of the probability of the gold tags."""
    return torch.nn.functional.cross_entropy(tags.flatten(0, 1), gold.flatten())
