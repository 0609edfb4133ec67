"""Whether all factors differ from zero is asked with a product in bool."""

# /// defect
# cause = "The C++ code generation knows no product in bool"
# url = "https://github.com/pytorch/pytorch/issues/197106"
# torch = ">=2.13"
# kinds = ["compiler-crash", "exception-mismatch"]
# regex = 'expected reduction_type in'
# ///

import torch


def program(factors):
    return torch.prod(factors, dtype=torch.bool), factors.log1p()


def inputs(rng):
    yield (rng.uniform(3, 5, low=0.5, high=2.0),)
