"""An Elman network unrolled over time in Python, with gradients through five steps."""

import torch


def program(steps, w_in, w_hidden):
    hidden = torch.zeros(steps.shape[1], w_hidden.shape[0], device=steps.device)
    outputs = []
    for t in range(steps.shape[0]):
        hidden = torch.tanh(steps[t] @ w_in + hidden @ w_hidden)
        if t % 2 == 0:
            outputs.append(hidden)
    return torch.stack(outputs, dim=0), hidden.sum(dim=-1)


def inputs(rng):
    yield rng.normal(5, 3, 4), rng.normal(4, 6, requires_grad=True), rng.normal(6, 6, requires_grad=True)
