"""The length of a batch rounded to tens scales it, at several lengths."""

# /// defect
# cause = "SymInt.__round__ ignores a negative number of digits"
# url = "https://github.com/pytorch/pytorch/issues/198064"
# torch = ">=2.13"
# kinds = ["wrong-result"]
# ///

import torch


def program(batch):
    bucket = round(batch.shape[0] * 3, -1)
    return torch.tanh(batch) * bucket, batch.sum() / max(bucket, 1)


def inputs(rng):
    yield (rng.normal(4, 5),)
    yield (rng.normal(6, 5),)
    yield (rng.normal(9, 5),)
