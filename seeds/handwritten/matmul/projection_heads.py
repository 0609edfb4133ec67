"""Linear layers with and without bias, attention between them, layer norm and distances to a target."""

import torch
import torch.nn.functional as F


def program(tokens, weight, bias, scale, shift, target):
    query = F.linear(tokens, weight)
    key = F.linear(tokens, weight, bias)
    mixed = F.scaled_dot_product_attention(query, key, tokens)
    normal = F.layer_norm(tokens + mixed, tokens.shape[-1:], scale, shift)
    summary = normal.mean(dim=1)
    head = F.linear(summary, weight, bias)
    same = torch.addmm(bias, summary, weight.t())
    wide = torch.cat((F.linear(summary, weight), F.linear(summary, weight.t())), dim=1)
    again = F.linear(summary, torch.cat((weight, weight), dim=0)) - wide
    pairs = F.bilinear(summary, head, weight.reshape(1, 8, 8))
    tame = F.layer_norm(summary, summary.shape[-1:]) + F.rms_norm(summary, summary.shape[-1:], scale, 1e-5)
    direction = F.normalize(head, dim=-1)
    loss = F.mse_loss(head, target) + 0.5 * F.l1_loss(same, target)
    return direction, normal, loss, again, pairs * tame


def inputs(rng):
    yield (
        rng.normal(3, 5, 8, requires_grad=True),
        rng.normal(8, 8),
        rng.normal(8),
        rng.uniform(8, low=0.5, high=1.5),
        rng.normal(8),
        rng.normal(3, 8),
    )
