"""A number in a 0-dimensional tensor that was detached is returned as if it had a gradient.

Modelled on https://github.com/pytorch/pytorch/issues/176854: after a tensor was detached, its ``requires_grad`` was
still True when compiled.
"""

import torch
from torch._functorch._aot_autograd import runtime_wrappers

KIND = "metadata"
REACHED_BY = "plain"


class _Context:
    """The context of an autograd function, on which 0-dimensional tensors cannot be marked as not differentiable."""

    def __init__(self, context):
        object.__setattr__(self, "context", context)

    def __getattr__(self, name):
        return getattr(self.context, name)

    def __setattr__(self, name, value):
        setattr(self.context, name, value)

    def mark_non_differentiable(self, *outputs):
        self.context.mark_non_differentiable(*[t for t in outputs if t.dim() or not t.is_floating_point()])


def plant():
    original = runtime_wrappers._AutogradForwardEpilogue.finalize

    def finalize(self, ctx, fw_outs):
        return original(self, _Context(ctx), fw_outs)

    runtime_wrappers._AutogradForwardEpilogue.finalize = finalize


def witness():
    def program(x):
        loss = (x * x).mean()
        return loss * 2, loss.detach() + 1

    return program, [(torch.arange(6.0, requires_grad=True),)]


plant()
