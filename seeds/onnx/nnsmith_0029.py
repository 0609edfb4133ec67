# /// eqfuzz
# source = "onnx"
# model = "nnsmith_0029.onnx"
# sha256 = "e2348bc3fbb24105"
# opset = 17
# producer = "pytorch 2.15.0"
# ///
"""nnsmith_0029.onnx: 2 Identity, 2 Constant, 1 Atan, 1 Sub, …."""

import torch
import torch.nn.functional as F
from torch import nn


class Program(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mlist_0_weight", torch.tensor([1.0]))
        self.register_buffer("mlist_0_bias", torch.tensor([0.0]))

    def forward(self, v0_0, v5_0):
        atan1 = torch.atan(v0_0)
        sub1 = v5_0 - atan1
        norm1 = F.batch_norm(sub1, self.mlist_0_bias, self.mlist_0_weight, self.mlist_0_weight, self.mlist_0_bias, eps=9.999999747378752e-06)
        softmax1 = F.softmax(norm1, dim=0)
        clip1 = torch.clamp(softmax1, min=-1.5, max=1.5)
        sigmoid1 = torch.sigmoid(softmax1)
        transpose1 = sigmoid1.permute((0, 1, 3, 2))
        cast1 = transpose1.to(torch.float64)
        return clip1, cast1


def inputs(rng):
    yield rng.normal(10, 1, 1, 1), rng.normal(45, 1)
