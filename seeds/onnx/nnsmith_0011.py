# /// eqfuzz
# source = "onnx"
# model = "nnsmith_0011.onnx"
# sha256 = "a8e545a45b5f014c"
# opset = 17
# producer = "pytorch 2.15.0"
# ///
"""nnsmith_0011.onnx: 10 Constant, 2 Add, 2 ConstantOfShape, 2 Mul, …."""

import torch
import torch.nn.functional as F
from torch import nn


class Program(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mlist_0_data", torch.randn(60) * 0.985 + -0.0349)
        self.register_buffer("matmul_38", torch.randn(60, 1) * 0.0729 + 0.01)

    def forward(self, v2_0):
        clip1 = torch.clamp(self.mlist_0_data, min=-1.5, max=1.5)
        product1 = v2_0 @ self.matmul_38
        add1 = (-0.024011386558413506) + product1
        expand1 = add1.expand((1, 58, 1))
        cast1 = v2_0.to(torch.float64)
        add2 = v2_0 + clip1
        relu1 = F.relu(add2)
        expand2 = add2.expand((1, 58, 60))
        floor1 = torch.floor(add2)
        return expand1, cast1, relu1, expand2, floor1


def inputs(rng):
    yield rng.normal(1, 58, 60)
