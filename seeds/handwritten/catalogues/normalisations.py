"""Normalisations with small variances and their own eps, with gradients."""

import torch
import torch.nn.functional as F


def program(x, w, b):
    small = x * 1e-3
    grouped = F.group_norm(x, 2, w, b), F.group_norm(small, 3, eps=1e-3), F.instance_norm(small, eps=1e-4)
    layered = (
        F.layer_norm(x, (5,)),
        F.layer_norm(small, (6, 5), eps=1e-3),
        F.rms_norm(x, (5,)),
        F.local_response_norm(x, 2),
    )
    batched = F.batch_norm(x, None, None, w, b, training=True), F.batch_norm(small, w.abs(), b.abs() + 0.1, eps=0.1)
    shares = (
        torch.log_softmax(x, 2),
        torch.softmax(small.mT, 1),
        torch.log_softmax(x.mT, 1),
        F.softmax(x, 1, torch.float64),
    )
    lengths = (
        F.normalize(x, dim=1),
        torch.renorm(x, 2, 0, 1.0),
        F.cosine_similarity(x, small, 2),
        F.pairwise_distance(x[0], x[1]),
    )
    return grouped, layered, batched, shares, lengths


def inputs(rng):
    yield rng.normal(4, 6, 5, requires_grad=True), rng.normal(6), rng.normal(6)
