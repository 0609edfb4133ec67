"""A call by keyword with optional arguments that are None, tensors or flags."""

import torch


def program(x, *, mask=None, bias=None, normalise=True, dims=(-1,)):
    y = x if bias is None else x + bias
    if mask is not None:
        y = torch.where(mask, y, torch.zeros_like(y))
    if normalise:
        y = y / (1 + y.abs().sum(dim=dims, keepdim=True))
    given = {"mask": mask, "bias": bias}
    return {"y": y, "top": y.amax(dim=dims), "used": [name for name, v in given.items() if v is not None]}


def inputs(rng):
    yield {"x": rng.normal(6, 20), "mask": rng.booleans(6, 20)}
    yield {"x": rng.normal(6, 20), "bias": rng.normal(20), "dims": (0, 1)}
    yield {"x": rng.normal(4, 20), "normalise": False}
