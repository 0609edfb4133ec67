"""How many of a row are kept is a floor of NumPy's, rounded to an integer."""

# /// defect
# cause = "round() of a NumPy scalar that Dynamo computes as a tensor cannot be traced"
# url = "https://github.com/pytorch/pytorch/issues/141258"
# torch = ">=2.13"
# kinds = ["compiler-crash", "exception-mismatch"]
# regex = '__round__'
# ///

import numpy as np
import torch


def program(x, fraction):
    kept = round(np.floor(fraction * 12.5))
    top = torch.topk(x, kept, dim=1).values
    return top.sum(1), kept


def inputs(rng):
    yield rng.normal(3, 16), 0.3
