"""Word vectors looked up, masked for padding and averaged; the table gets a gradient."""

import torch
import torch.nn.functional as F


def program(table, tokens, lengths):
    vectors = F.embedding(tokens, table)
    position = torch.arange(tokens.shape[1], device=tokens.device)
    mask = position[None, :] < lengths[:, None]
    kept = torch.where(mask.unsqueeze(-1), vectors, torch.zeros_like(vectors))
    mean = kept.sum(dim=1) / lengths.clamp(min=1).unsqueeze(1)
    peak = vectors.masked_fill(~mask[..., None], float("-inf")).amax(dim=1)
    bag = F.embedding_bag(tokens, table, mode="sum") / tokens.shape[1]
    return bag, torch.cat([mean, peak], dim=-1), mask.sum()


def inputs(rng):
    yield rng.normal(20, 6, requires_grad=True), rng.integers(0, 20, 4, 7), rng.integers(1, 8, 4)
