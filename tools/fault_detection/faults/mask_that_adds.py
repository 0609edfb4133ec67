"""Adding through a mask overwrites what is there.

Modelled on https://github.com/pytorch/pytorch/issues/138908: values put into a tensor by index were not added as
eager adds them.
"""

import torch
from torch._inductor import lowering

KIND = "lowering"
REACHED_BY = "rewrite"


def plant():
    original = lowering.index_put_as_masked_fill

    def index_put_as_masked_fill(self, indices, value, accumulate):
        return original(self, indices, value, False)

    lowering.index_put_as_masked_fill = index_put_as_masked_fill


def witness():
    def program(x, mask):
        return x.index_put((mask,), torch.tensor(2.0), accumulate=True)

    return program, [(torch.arange(12.0), torch.arange(12) % 3 == 0)]


plant()
