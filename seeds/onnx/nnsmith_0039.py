# /// eqfuzz
# source = "onnx"
# model = "nnsmith_0039.onnx"
# sha256 = "5f2e0e5429a8f727"
# opset = 17
# producer = "pytorch 2.15.0"
# ///
"""nnsmith_0039.onnx: 7 Constant, 3 Mul, 1 ConstantOfShape, 1 Equal, …."""

import torch
import torch.nn.functional as F
from torch import nn


class Program(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mlist_0_data", torch.randn(33) * 0.847 + 0.0212)
        self.register_buffer("mlist_1_weight", torch.tensor([0.25]))

    def forward(self, v4_0, v0_0):
        expand1 = v4_0.expand((1, 1))
        concat1 = torch.cat((v4_0, self.mlist_0_data), dim=0)
        cast1 = v0_0.to(torch.float64)
        relu1 = F.relu(v0_0)
        sub1 = relu1 - concat1
        ceil1 = torch.ceil(sub1)
        div1 = ceil1 / 1.4142135381698608
        erf1 = torch.erf(div1)
        add1 = erf1 + 1.0
        mul1 = ceil1 * add1
        mul2 = mul1 * 0.5
        prelu1 = torch.where(ceil1 < 0, ceil1 * self.mlist_1_weight, ceil1)
        return expand1, cast1, mul2, prelu1


def inputs(rng):
    yield rng.normal(1), rng.normal()
