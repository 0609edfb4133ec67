"""Reductions over all elements, over one dimension and over several, of a tensor and of its transposed view."""

import torch


def program(x):
    t = x.transpose(0, 2)
    places = x.argmax(), t.argmax(), x.argmin(1), t.argmax(2, keepdim=True), torch.argsort(x, dim=1, stable=True)
    extremes = x.amax((0, 2)), x.amax(2), t.amin(), torch.aminmax(x, dim=1), x.max(), t.max(1), x.min(2, keepdim=True)
    sums = (
        x.sum(),
        x.sum(2),
        t.sum((0, 1)),
        x.mean(1),
        t.mean(),
        x.prod(2),
        torch.nansum(x, 0),
        x.sum(dtype=torch.float64),
    )
    spread = x.var(), t.var(1, correction=0), x.std((1, 2)), torch.var_mean(t, 2), torch.std_mean(x, correction=2)
    norms = x.norm(), torch.linalg.vector_norm(t, 1, 1), torch.linalg.vector_norm(x, float("inf"), (0, 1)), t.norm(3, 0)
    scans = x.cumsum(1), t.cumsum(0), x.cumprod(2), torch.logcumsumexp(x, 0), x.cummax(1), t.cummin(2)
    ranks = x.median(), x.median(1), x.kthvalue(2, 2), t.topk(2, 1), x.sort(0, descending=True), t.mode(0)
    tests = (x > 0).all(), (t > 0).any(1), (x > 0).sum((0, 1)), torch.count_nonzero(x > 0, 1), (x > 9).any()
    logs = torch.logsumexp(x, 1), t.logsumexp((0, 2)), x.diff(dim=1), torch.trapezoid(t, dim=0), x.quantile(0.3, 2)
    return places, extremes, sums, spread, norms, scans, ranks, tests, logs


def inputs(rng):
    yield rng.normal(3, 5, 17)
