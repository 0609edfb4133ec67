"""Temperature-scaled attention over a padded batch."""

import torch
import torch.nn.functional as F


def program(q, k, v, lengths):
    temperature = q.shape[-1] ** 0.5
    scores = q @ k.transpose(-2, -1) / temperature
    padding = torch.arange(k.shape[1], device=k.device) >= lengths.unsqueeze(-1)
    scores = scores.masked_fill(padding.unsqueeze(1), float("-inf"))
    scores = scores - scores.amax(dim=-1, keepdim=True)
    weights = scores.exp()
    weights = weights / weights.sum(dim=-1, keepdim=True)
    weights = F.dropout(weights, 0.5, training=False)
    return torch.matmul(weights, v), weights.mean(dim=1)


def inputs(rng):
    yield rng.normal(2, 5, 8), rng.normal(2, 7, 8), rng.normal(2, 7, 6), rng.integers(1, 8, 2)
    yield rng.normal(3, 4, 8), rng.normal(3, 9, 8), rng.normal(3, 9, 6), rng.integers(1, 10, 3)
