"""Running statistics that the caller passes in a dict and a list, both changed in place."""

import torch


def program(batch, stats, log):
    n = batch.shape[0]
    delta = batch.mean(dim=0) - stats["mean"]
    stats["count"] += n
    stats["mean"].add_(delta * (n / stats["count"]))
    torch.maximum(stats["peak"], batch.amax(dim=0), out=stats["peak"])
    log.append(stats["count"])
    centred = batch - stats["mean"]
    return centred, (centred**2).sum(dim=0) / max(1, n - 1)


def inputs(rng):
    for n in (4, 6):
        yield rng.normal(n, 9), {"mean": torch.zeros(9), "peak": torch.full((9,), -1e9), "count": 2}, []
