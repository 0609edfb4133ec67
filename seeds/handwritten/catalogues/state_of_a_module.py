"""A module whose result depends on its numbers, flags, mode, buffers and submodules, and on whether gradients are on."""

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.linspace(0.5, 1.5, 6))
        self.register_buffer("total", torch.zeros(6))
        self.drop = torch.nn.Dropout(0.25)
        self.norm = torch.nn.BatchNorm1d(6)
        self.gain, self.count, self.centred, self.steps = 0.75, 0, True, 2

    def forward(self, x, y, factor=0.5):
        self.count += 1
        y.mul_(factor)
        z = self.drop(x) * self.gain * factor + self.norm(y)
        for _ in range(self.steps):
            z = z * self.scale + self.total
        if self.centred:
            z = z - z.mean(0)
        if self.training:
            self.total.mul_(0.9).add_(z.detach().mean(0))
        if torch.is_grad_enabled():
            z = z * 2
        return z, x.sum() + y.sum(), self.count * factor


def inputs(rng):
    yield rng.normal(5, 6), rng.normal(5, 6)
