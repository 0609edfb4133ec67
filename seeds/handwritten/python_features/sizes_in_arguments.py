"""Sizes as arguments of operators."""

import torch


def program(x):
    n = x.shape[0]
    rearranged = (
        n > torch.ones(2), torch.clamp(x, n - 2, n - 1), x.repeat(n), x.expand(n, n), x.roll(n - 2),
        torch.where(x > n - 1, n, 0), torch.where(x > n - 1, n / 2, 0.0), x.masked_fill(x > 2, n), torch.pow(x, n),
        torch.add(x, x, alpha=n), x.split(n - 1), x.chunk(n - 1), x.unfold(0, n - 1, 1), x.view(n, 1),
        x.view(-1, n), x.reshape(1, n),
    )
    chosen = (
        torch.nn.functional.pad(x, (n - 2, 1)), torch.tril(torch.ones(n, n), n - 3), x.sum() / n,
        x.cumsum(0)[n - 1], torch.nn.functional.one_hot(torch.tensor(1), n), torch.randperm(n).sort()[0],
        x.topk(n - 1)[0], x.kthvalue(n - 1)[0], torch.combinations(x, 2), torch.meshgrid(x, x, indexing="ij"),
        x.index_select(0, torch.tensor([n - 1])), x.flip(0)[: n - 1], torch.hann_window(n), torch.cat([x] * n),
        torch.stack([x] * (n - 1)),
    )
    return rearranged, chosen, x + 1


def inputs(rng):
    yield rng.normal(3)
    yield rng.normal(4)
    yield rng.normal(8)
