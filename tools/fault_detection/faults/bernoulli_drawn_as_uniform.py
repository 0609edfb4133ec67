"""``bernoulli`` with a number for its probability is made from uniform draws, though eager's numbers are asked for.

Modelled on https://github.com/pytorch/pytorch/issues/142853: a decomposition of ``bernoulli`` drew other numbers than
eager does, although falling back to eager's generator was asked for.
"""

import torch
from torch._inductor import decomposition

KIND = "randomness"
REACHED_BY = "rewrite"


def plant():
    def bernoulli(self, p=0.5, *, generator=None):
        return (torch.rand_like(self, dtype=torch.float32) >= 1 - p).to(self.dtype)

    decomposition.decompositions[torch.ops.aten.bernoulli.p] = bernoulli


def witness():
    def program(x):
        return x * torch.empty_like(x).bernoulli_(0.3)

    return program, [(torch.arange(1.0, 65.0),)]


plant()
