"""The gradient of an in-place ``elu`` is computed as if the saved result were the input.

Modelled on https://github.com/pytorch/pytorch/issues/100061: the decomposition of ``elu_backward`` was wrong; it has
one formula for a saved input and another, chosen by ``is_result``, for a saved result.
"""

import torch
from torch._inductor.decomposition import decompositions

KIND = "decomposition"
REACHED_BY = "plain"


def plant():
    operator = torch.ops.aten.elu_backward.default
    original = decompositions[operator]

    def elu_backward(grad_output, alpha, scale, input_scale, is_result, self_or_result):
        return original(grad_output, alpha, scale, input_scale, False, self_or_result)

    decompositions[operator] = elu_backward


def witness():
    torch.manual_seed(0)
    linear = torch.nn.Linear(5, 4)
    gradient_of = torch.compiler.disable(torch.autograd.grad)

    def program(x):
        loss = torch.nn.functional.elu(linear(x), inplace=True).sum()
        return loss, gradient_of(loss, linear.weight)

    return program, [(torch.randn(6, 5),)]


plant()
