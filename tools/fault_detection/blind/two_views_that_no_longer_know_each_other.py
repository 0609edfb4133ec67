"""Autograd does not learn that two returned tensors are views of one intermediate result.

Modelled on https://github.com/pytorch/pytorch/pull/97786: AOTAutograd hides from autograd that a returned tensor is a
view of an intermediate result if no other returned tensor is one. Here one other view is still counted as none: a
change in place to one of the two is then missing from the gradient of the other.
"""

import __future__

import inspect

import torch
from torch._functorch._aot_autograd import collect_metadata_analysis

KIND = "aot-autograd"
REACHED_BY = "plain"


def plant():
    function = collect_metadata_analysis.run_functionalized_fw_and_collect_metadata
    right = "or num_aliased_outs_that_are_not_multi_output_views <= 1"
    wrong = "or num_aliased_outs_that_are_not_multi_output_views <= 2"
    source = inspect.getsource(function)
    if source.count(right) != 1:
        raise RuntimeError("the place for this fault has changed")
    code = compile(
        source.replace(right, wrong),
        collect_metadata_analysis.__file__,
        "exec",
        __future__.annotations.compiler_flag,
    )
    scope = {}
    exec(code, vars(collect_metadata_analysis), scope)
    function.__code__ = scope[function.__name__].__code__


def witness():
    @torch.compiler.disable
    def gradient(x, flat, turned):
        flat.mul_(3.0)
        return torch.autograd.grad(turned.sum(), x)[0]

    def program(x):
        y = x.sin()
        return gradient(x, y.view(-1), y.t())

    return program, [(torch.arange(6.0).reshape(2, 3).requires_grad_(),)]


plant()
