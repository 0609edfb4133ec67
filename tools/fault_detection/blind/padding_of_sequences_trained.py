"""The gradient of an embedding of a batch of sequences reaches the row of the padding.

Modelled on https://github.com/pytorch/pytorch/pull/95499: the decomposition of the gradient of an embedding applied the
mask of the padding along the wrong dimension of indices that are a matrix.
"""

import torch
import torch.nn.functional as F
from torch._inductor import decomposition

KIND = "decomposition"
REACHED_BY = "plain"


def plant():
    overload = torch.ops.aten.embedding_dense_backward.default
    original = decomposition.decompositions[overload]

    def embedding_dense_backward(grad_output, indices, num_weights, padding_idx, scale_grad_by_freq):
        if indices.dim() > 1:
            padding_idx = -1
        return original(grad_output, indices, num_weights, padding_idx, scale_grad_by_freq)

    decomposition.decompositions[overload] = embedding_dense_backward


def witness():
    def program(weight, indices):
        return F.embedding(indices, weight, padding_idx=0) * 2

    weight = torch.arange(8.0).reshape(4, 2).requires_grad_()
    return program, [(weight, torch.tensor([[1, 2, 0], [3, 0, 0]]))]


plant()
