"""The matrix of second derivatives of an energy, for every point of a batch."""

# /// defect
# cause = "jacfwd around another derivative inside vmap cannot be traced by Dynamo"
# url = "https://github.com/pytorch/pytorch/issues/183015"
# torch = ">=2.13"
# kinds = ["compiler-crash", "exception-mismatch"]
# regex = ''
# ///

import torch


def energy(point):
    return (point**3).sum() * point[0] + torch.sin(point).prod()


def program(points):
    return torch.vmap(torch.func.hessian(energy))(points)


def inputs(rng):
    yield (rng.normal(3, 4),)
