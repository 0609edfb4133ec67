"""Features named after their length, which is written with leading zeros."""

# /// defect
# cause = "An f-string with a format specification is given the symbol of a dynamic size as a string"
# url = "https://github.com/pytorch/pytorch/issues/197093"
# torch = ">=2.13"
# kinds = ["compiler-crash", "exception-mismatch"]
# regex = 'Unknown format code'
# ///

import torch


def program(x):
    name = f"features_{x.shape[1]:04d}"
    return {name: torch.relu(x).sum(0), "all": x.mean()}


def inputs(rng):
    yield rng.normal(3, 5)
    yield rng.normal(3, 9)
    yield rng.normal(3, 12)
