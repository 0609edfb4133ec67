"""The gradient of ``log_softmax`` over the first of two dimensions is summed over the second.

Modelled on https://github.com/pytorch/pytorch/issues/152309: the compiled form of a softmax gave gradients other than
eager's, in attention.
"""

import torch
from torch._inductor import decomposition

KIND = "autograd-formula"
REACHED_BY = "rewrite"


def plant():
    overload = torch.ops.aten._log_softmax_backward_data.default
    original = decomposition.decompositions[overload]

    def log_softmax_backward(grad_output, output, dim, input_dtype):
        first_of_two = output.dim() == 2 and dim in (0, -2)
        return original(grad_output, output, 1 if first_of_two else dim, input_dtype)

    decomposition.decompositions[overload] = log_softmax_backward


def witness():
    def program(x):
        return torch.log_softmax(x, 0) * torch.arange(6.0).reshape(2, 3)

    return program, [(torch.arange(6.0).reshape(2, 3).sin().requires_grad_(),)]


plant()
