"""The energy of complex coefficients that a pseudo-inverse gives, in training."""

# /// defect
# cause = "AOTAutograd traces a wrong backward of linalg.pinv for complex input"
# url = "https://github.com/pytorch/pytorch/issues/197084"
# torch = ">=2.13"
# kinds = ["wrong-gradient"]
# regex = 'pinv'
# direction = "gradient"
# ///

import torch


def program(design, observed):
    coefficients = torch.linalg.pinv(design) @ observed
    return (coefficients.abs() ** 2).sum()


def inputs(rng):
    yield rng.normal(4, 3, dtype=torch.complex64, requires_grad=True), rng.normal(4, 2, dtype=torch.complex64)
