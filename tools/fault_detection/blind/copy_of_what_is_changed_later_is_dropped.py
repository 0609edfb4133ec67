"""A copy of an argument that is changed later on in the program sees the change.

Modelled on https://github.com/pytorch/pytorch/issues/198131: the pass that removes operations without effect replaced a
copy of an input by the input itself, which is written before the copy is used. Here the pass does not count the final
copy into an argument as a change to it.
"""

import inspect

import torch
from torch._inductor.fx_passes import post_grad

KIND = "pass"
REACHED_BY = "plain"
TORCH = ">=2.15"
LACKS = "torch._inductor.fx_passes.post_grad._slice_scatter_noop_replacement"


def plant():
    function = post_grad.remove_noop_ops
    right = "        aten.copy_.default,\n        aten.set_.source_Tensor,\n"
    wrong = "        aten.set_.source_Tensor,\n"
    source = inspect.getsource(function)
    if source.count(right) != 1:
        raise RuntimeError("the place for this fault has changed")
    scope = {}
    exec(source.replace(right, wrong), vars(post_grad), scope)
    function.__code__ = scope[function.__name__].__code__


def witness():
    @torch.compiler.disable
    def fresh(x):
        return x.clone()

    def program(snapshot, running):
        snapshot = fresh(snapshot)
        running = fresh(running)
        snapshot[0:, :] = running[0:, :]
        running.add_(1)
        return snapshot, running

    return program, [(torch.zeros(3, 4), torch.arange(12.0).reshape(3, 4))]


plant()
