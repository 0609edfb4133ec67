"""The gradient of ``elu`` in place, which is computed from the result, lacks the factor where that is negative.

Modelled on https://github.com/pytorch/pytorch/issues/100061: a model trained worse when compiled, because of the
decomposition of the gradient of ``elu``.
"""

import torch
import torch.nn.functional as F
from torch._inductor import decomposition

KIND = "autograd-formula"
REACHED_BY = "rewrite"


def plant():
    overload = torch.ops.aten.elu_backward.default
    original = decomposition.decompositions[overload]

    def elu_backward(grad_output, alpha, scale, input_scale, is_result, self_or_result):
        if is_result:
            return torch.where(self_or_result <= 0, grad_output * (self_or_result + alpha * 2), grad_output * scale)
        return original(grad_output, alpha, scale, input_scale, is_result, self_or_result)

    decomposition.decompositions[overload] = elu_backward


def witness():
    def program(x):
        return F.elu_(x * 2)

    return program, [(torch.linspace(-2, 2, 7).requires_grad_(),)]


plant()
