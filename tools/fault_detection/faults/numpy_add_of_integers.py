"""``np.add`` of two integer arrays is computed in float32 and rounds what is above 2 ** 24.

Modelled on https://github.com/pytorch/pytorch/issues/198056: compiled NumPy code follows other rules for the types of
results than NumPy, integers divided by integers in float32 among them.
"""

import functools

import numpy as np
import torch
import torch._numpy as tnp

KIND = "dynamo-variable"
REACHED_BY = "rewrite"


def plant():
    original = tnp.add

    @functools.wraps(original)
    def add(x1, x2, *args, **kwargs):
        total = original(x1, x2, *args, **kwargs)
        if not args and not kwargs and getattr(total, "dtype", None) in (tnp.dtype("int64"), tnp.dtype("int32")):
            exact = total.dtype
            return original(tnp.asarray(x1).astype("float32"), tnp.asarray(x2).astype("float32")).astype(exact)
        return total

    tnp.add = add


def witness():
    def program(x):
        a = x.numpy()
        return torch.from_numpy(np.add(a, a))

    return program, [(torch.arange(5) * 10_000_019,)]


plant()
