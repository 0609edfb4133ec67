# /// eqfuzz
# source = "onnx"
# model = "nnsmith_0007.onnx"
# sha256 = "50ef985822b7d3ee"
# opset = 17
# producer = "pytorch 2.15.0"
# ///
"""nnsmith_0007.onnx: 5 Constant, 1 ConstantOfShape, 1 Mul, 1 Equal, …."""

import torch
from torch import nn


class Program(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("matmul_24", torch.tensor([[0.06984508]]))

    def forward(self, v7_0):
        expand1 = v7_0.expand((1, 51, 20, 1))
        product1 = v7_0 @ self.matmul_24
        add1 = (-0.602393627166748) + product1
        round1 = torch.round(add1)
        squeeze1 = add1.squeeze(2)
        reduce_mean1 = squeeze1.mean(dim=0)
        sigmoid1 = torch.sigmoid(squeeze1)
        ceil1 = torch.ceil(sigmoid1)
        cast1 = squeeze1.to(torch.int32)
        return expand1, round1, reduce_mean1, ceil1, cast1


def inputs(rng):
    yield rng.normal(51, 20, 1)
