"""The smallest angle of each row in half precision, in training."""

# /// defect
# cause = "Fused code compares unrounded numbers with their rounded extremum, and divides by how many are equal"
# url = "https://github.com/pytorch/pytorch/issues/186799"
# torch = ">=2.13"
# kinds = ["wrong-gradient"]
# regex = 'compiled gives nan'
# direction = "gradient"
# ///

import torch


def program(x, y):
    angles = torch.atan2(x, y)
    return angles.amin(1), angles.mean()


def inputs(rng):
    yield rng.normal(4, 10, dtype=torch.float16, requires_grad=True), rng.normal(4, 10, dtype=torch.float16)
