"""The gradient of ``smooth_l1_loss`` is not divided by ``beta`` for the small differences.

Modelled on https://github.com/pytorch/pytorch/issues/100061: the decomposition of the gradient of a function with
several branches had a wrong formula for one of them.
"""

import torch
import torch.nn.functional as F
from torch._decomp.decompositions import Reduction, pw_cast_for_opmath
from torch._inductor.decomposition import decompositions

KIND = "decomposition"
REACHED_BY = "plain"


def plant():
    @pw_cast_for_opmath
    def smooth_l1_loss_backward(grad_output, self, target, reduction, beta):
        norm = 1.0 / self.numel() if reduction == Reduction.MEAN.value else 1.0
        x = self - target
        abs_x = torch.abs(x)
        norm_grad = norm * grad_output
        return torch.where(
            abs_x < beta,
            norm_grad * x,
            norm_grad * torch.sign(x),
        )

    decompositions[torch.ops.aten.smooth_l1_loss_backward.default] = smooth_l1_loss_backward


def witness():
    gradient_of = torch.compiler.disable(torch.autograd.grad)

    def program(prediction, target):
        loss = F.smooth_l1_loss(prediction, target, beta=0.5)
        return loss.detach(), gradient_of(loss, prediction)

    prediction = torch.linspace(-2.0, 2.0, 9).requires_grad_()
    return program, [(prediction, torch.full((9,), 0.1))]


plant()
