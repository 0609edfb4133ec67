# /// eqfuzz
# source = "onnx"
# model = "nnsmith_0001.onnx"
# sha256 = "bfd2c74c57ea7be5"
# opset = 17
# producer = "pytorch 2.15.0"
# ///
"""nnsmith_0001.onnx: 2 Softmax, 1 ReduceMax, 1 Mul, 1 Relu, …."""

import torch
import torch.nn.functional as F
from torch import nn


class Program(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mlist_0_data", torch.tensor([0.66135216]))
        self.register_buffer("mul_13", torch.tensor([-0.2669241, -0.06167726]))

    def forward(self, v4_0, v8_0, v6_0):
        reduce_max1 = self.mlist_0_data.amax(dim=0)
        softmax1 = F.softmax(v4_0, dim=0)
        softmax2 = F.softmax(v8_0, dim=0)
        mul1 = reduce_max1 * self.mul_13
        relu1 = F.relu(v6_0)
        concat1 = torch.cat((mul1, relu1, softmax1, softmax2), dim=0)
        sub1 = softmax2 - concat1
        return sub1


def inputs(rng):
    yield rng.normal(1), rng.normal(1), rng.normal(5)
