"""Two results that a differentiable graph computes alike are returned as one tensor, so that a change to one hits both.

Modelled on https://github.com/pytorch/pytorch/pull/134726: the elimination of common subexpressions in AOTAutograd took
two returned tensors for one because the same steps lead to them, although they are separate storages in eager mode.
"""

import __future__

import inspect

import torch
from torch._functorch import compile_utils

KIND = "aot-autograd"
REACHED_BY = "plain"


def plant():
    function = compile_utils.fx_graph_cse
    right = "            or n in nodes_that_alias_outputs\n"
    source = inspect.getsource(function)
    if source.count(right) != 1:
        raise RuntimeError("the place for this fault has changed")
    code = compile(source.replace(right, ""), compile_utils.__file__, "exec", __future__.annotations.compiler_flag)
    scope = {}
    exec(code, vars(compile_utils), scope)
    function.__code__ = scope[function.__name__].__code__


def witness():
    @torch.compiler.disable
    def advance(state):
        with torch.no_grad():
            state.add_(1.0)

    def program(x):
        hidden = x * 2
        cell = x * 2
        advance(hidden)
        return hidden, cell

    return program, [(torch.arange(4.0, requires_grad=True),)]


plant()
