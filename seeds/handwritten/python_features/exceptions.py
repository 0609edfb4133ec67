"""try, except and finally around a shape check, with statements and assertions on the way."""

import torch


def matched(a, b):
    if a.shape[-1] != b.shape[-1]:
        raise ValueError("widths differ")
    return a * b


def program(x, y):
    assert x.dim() == 2, "x must be a matrix"
    path = []
    try:
        out = matched(x, y)
    except ValueError as error:
        path.append(str(error))
        out = x[:, : y.shape[-1]] * y
    finally:
        path.append("done")
    with torch.no_grad():
        peak = out.abs().amax()
    return out / peak - 0.5, out.mean(dim=0), path


def inputs(rng):
    yield rng.normal(5, 30), rng.normal(30)
    yield rng.normal(5, 30), rng.normal(20)
