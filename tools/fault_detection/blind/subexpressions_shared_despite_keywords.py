"""In graphs with gradients, two calls that differ only in a number that is given by keyword are computed once.

Modelled on https://github.com/pytorch/pytorch/pull/119567: the elimination of common subexpressions before partitioning
took calls with different arguments for the same, since only the hash of the arguments was compared.
"""

import torch
import torch._functorch.aot_autograd  # alone, the next import is circular
from torch._functorch import compile_utils

KIND = "partitioner"
REACHED_BY = "rewrite"


def plant():
    original = compile_utils.tree_flatten

    def tree_flatten(arguments):
        if isinstance(arguments, dict):
            arguments = {name: value for name, value in arguments.items() if type(value) not in (int, float)}
        return original(arguments)

    compile_utils.tree_flatten = tree_flatten


def witness():
    def program(x, y):
        return torch.add(x, y).sin() + torch.add(x, y, alpha=2).cos()

    return program, [(torch.arange(3.0).requires_grad_(), torch.ones(3))]


plant()
