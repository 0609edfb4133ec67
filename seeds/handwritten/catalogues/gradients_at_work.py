"""Gradients taken, stopped, hooked and written by hand inside the program, and what they leave on results."""

import torch
import torch.nn.functional as F


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 2 * x


def program(x, w):
    stopped = x.detach() * 2, (x - x.detach()).exp(), x.sum().detach(), w.mean().detach() + x
    with torch.no_grad():
        still = x * w, w.norm()
    with torch.enable_grad():
        own = Doubled.apply(x) + Doubled.apply(w).sum()
    first = torch.func.grad(lambda t: (t * w).sin().sum())(x)
    losses = (
        F.nll_loss(F.log_softmax(x, 1), w.argmax(1)),
        F.cross_entropy(x, w.argmax(1), label_smoothing=0.2),
        F.mse_loss(x, w),
    )
    shares = (
        (torch.log_softmax(x, 1) * w).sum(1),
        torch.softmax(x, 0).prod(0),
        torch.log_softmax(x, 0) * w,
        x.logsumexp(1),
        x.cumsum(1) * w,
    )
    twice = torch.func.grad(lambda t: (t**3).sum())(x), torch.func.vmap(torch.dot)(x, w)
    ragged = (
        x.clamp(-0.5, 0.5),
        x.abs(),
        x.amax(1),
        x.max(1).values,
        x.norm(dim=0),
        torch.where(x > 0, x, w),
        x[1:].prod(),
        F.elu(x, 2.0),
    )
    return stopped, still, own, first, losses, shares, twice, ragged


def inputs(rng):
    yield rng.normal(4, 5, requires_grad=True), rng.normal(4, 5, requires_grad=True)
