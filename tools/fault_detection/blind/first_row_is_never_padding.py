"""The gradient of an embedding's weight is not left out for the padding row where that is row 0.

Modelled on https://github.com/pytorch/pytorch/issues/26302: the row of the weight that ``padding_idx=0`` names got a
gradient other than 0.
"""

import torch
from torch._inductor.decomposition import decompositions

KIND = "decomposition"
REACHED_BY = "plain"


def plant():
    operator = torch.ops.aten.embedding_dense_backward.default
    original = decompositions[operator]

    def embedding_dense_backward(grad_output, indices, num_weights, padding_idx, scale_grad_by_freq):
        return original(grad_output, indices, num_weights, padding_idx or -1, scale_grad_by_freq)

    decompositions[operator] = embedding_dense_backward


def witness():
    def program(indices, weight):
        return torch.nn.functional.embedding(indices, weight, padding_idx=0)

    return program, [(torch.tensor([0, 2, 0, 1]), torch.arange(6.0).reshape(3, 2).requires_grad_())]


plant()
