"""An outer product is written over what was accumulated, stored by columns."""

# /// defect
# cause = "The decomposition of addr leaves the layout of its first operand out where beta is 0"
# url = "https://github.com/pytorch/pytorch/issues/198364"
# torch = ">=2.13"
# kinds = ["wrong-metadata"]
# regex = 'addr'
# ///

import torch


def program(total, left, right):
    fresh = torch.addr(total, left, right, beta=0)
    return fresh, torch.addr(total, left, right)


def inputs(rng):
    yield rng.normal(6, 5).t(), rng.normal(5), rng.normal(6)
