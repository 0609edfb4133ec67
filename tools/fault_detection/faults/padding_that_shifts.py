"""Padding whose amounts add up to nothing is dropped, although it may add on one side what it takes off the other.

Modelled on https://github.com/pytorch/pytorch/issues/198131: an operation taken for one that does nothing was removed
after the gradients were made, and the result changed.
"""

import torch
from torch._inductor.fx_passes.post_grad import noop_registry

KIND = "post-grad-pass"
REACHED_BY = "rewrite"


def plant():
    overload = torch.ops.aten.constant_pad_nd.default
    _, position = noop_registry[overload]
    noop_registry[overload] = (lambda x, padding, fill_value=0: sum(padding) == 0, position)


def witness():
    return lambda x: torch.nn.functional.pad(x, (1, -1)) * 2, [(torch.arange(12.0).reshape(3, 4),)]


plant()
