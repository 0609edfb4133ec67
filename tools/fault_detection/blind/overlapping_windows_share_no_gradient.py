"""The gradient of ``unfold`` keeps, for an element in several windows, only what came from one of them.

Modelled on https://github.com/pytorch/pytorch/pull/183996: the decomposition of ``unfold_backward`` was wrong for
windows that overlap. Windows that do not overlap need no accumulation, and the code for them is used for both.
"""

import inspect

import torch
from torch._decomp import decompositions

KIND = "decomposition"
REACHED_BY = "plain"


def plant():
    packet = torch.ops.aten.unfold_backward
    source = inspect.getsource(inspect.unwrap(torch._decomp.decomposition_table[packet.default]))
    right = "grad_input, index, source, accumulate=True"
    wrong = "grad_input, index, source, accumulate=False"
    if source.count(right) != 1:
        raise RuntimeError("the place for this fault has changed")
    function = inspect.unwrap(torch._decomp.decomposition_table[packet.default])
    body = source[source.index("def unfold_backward") :]
    scope = {}
    exec(body.replace(right, wrong), vars(decompositions), scope)
    function.__code__ = scope["unfold_backward"].__code__


def witness():
    @torch.compiler.disable
    def gradient(loss, x):
        return torch.autograd.grad(loss, x)[0]

    def program(x, weights):
        windows = x.unfold(0, 3, 1)
        return gradient((windows * weights).sum(), x)

    return program, [(torch.arange(6.0, requires_grad=True), torch.tensor([1.0, 10.0, 100.0]))]


plant()
