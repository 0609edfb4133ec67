"""A number in a 0-dimensional tensor that was detached is returned as if it had a gradient.

Modelled on https://github.com/pytorch/pytorch/issues/176854: after a tensor was detached, its ``requires_grad`` was
still True when compiled.
"""

import torch

try:
    from torch._functorch._aot_autograd import codegen
except ImportError:  # before 2.14
    from torch._functorch._aot_autograd import subclass_codegen as codegen

KIND = "metadata"
REACHED_BY = "plain"


def plant():
    original = codegen._compile_and_exec_source

    def _compile_and_exec_source(source, names, entry, *args, **kwargs):
        compiled = original(source, names, entry, *args, **kwargs)
        if entry != "_transform_raw_returns":
            return compiled

        def transform(returns):
            return [t for t in compiled(returns) if t.dim() or not t.is_floating_point()]

        return transform

    codegen._compile_and_exec_source = _compile_and_exec_source


def witness():
    def program(x):
        loss = (x * x).mean()
        return loss * 2, loss.detach() + 1

    return program, [(torch.arange(6.0, requires_grad=True),)]


plant()
