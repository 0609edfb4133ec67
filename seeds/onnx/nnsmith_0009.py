# /// eqfuzz
# source = "onnx"
# model = "nnsmith_0009.onnx"
# sha256 = "1d461860393d700c"
# opset = 17
# producer = "pytorch 2.15.0"
# ///
"""nnsmith_0009.onnx: 10 Constant, 2 MatMul, 2 Reshape, 1 Tan, …."""

import torch
from torch import nn


class Program(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mlist_0_data", torch.randn(35, 2, 1) * 1.08 + -0.0453)
        self.register_buffer("prelu_44", torch.tensor([[0.25]]))
        self.register_buffer("mlist_2_data", torch.tensor([[1.3384882, 0.14844325]]))
        self.register_buffer("matmul_47", torch.randn(1, 48) * 0.61 + -0.0612)
        self.register_buffer("mlist_3_bias", torch.randn(48) * 0.547 + -0.0264)

    def forward(self, v6_0):
        tan1 = torch.tan(self.mlist_0_data)
        prelu1 = torch.where(tan1 < 0, tan1 * self.prelu_44, tan1)
        clip1 = torch.clamp(self.mlist_2_data, min=-1.5, max=1.5)
        mul1 = clip1 * v6_0
        product1 = mul1 @ tan1
        cos1 = torch.cos(product1)
        product2 = product1 @ self.matmul_47
        add1 = self.mlist_3_bias + product2
        pad1 = add1.clone()
        return prelu1, cos1, pad1


def inputs(rng):
    yield rng.normal(1)
