"""Forward derivatives of a chain of small half-precision matrices."""

# /// defect
# cause = "The C++ code of a product of half numbers and its derivative does not compile"
# url = "https://github.com/pytorch/pytorch/issues/194706"
# torch = ">=2.13"
# kinds = ["compiler-crash", "exception-mismatch"]
# regex = 'C\+\+ compile error: conflicting declaration'
# ///

import torch


def shifted(x, by):
    return by(x) + x


def chain(x):
    first = torch.mm(shifted(x, torch.prod), shifted(x, torch.sum))
    return torch.mm(first, shifted(x, torch.sum)).sum()


def program(x):
    return torch.func.jacfwd(chain)(x)


def inputs(rng):
    yield ((rng.integers(1, 10, 3, 3) / 10).half(),)
