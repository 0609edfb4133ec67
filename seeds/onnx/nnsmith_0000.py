# /// eqfuzz
# source = "onnx"
# model = "nnsmith_0000.onnx"
# sha256 = "57664057cf596369"
# opset = 17
# producer = "pytorch 2.15.0"
# ///
"""nnsmith_0000.onnx: 5 Constant, 2 Cast, 1 Conv, 1 Slice, …."""

import torch
import torch.nn.functional as F
from torch import nn


class Program(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mlist_2_bias", torch.tensor([-0.4542749, 0.3766992, -0.9000584, -0.06748724, 0.87941945, -0.407892]))
        self.register_buffer("conv_25", torch.randn(54, 1, 74) * 1.29 + -0.026)
        self.register_buffer("mlist_2_weight", torch.tensor([[[-0.19261527]], [[-0.1963427]], [[-0.89734995]], [[-0.8634379]], [[-0.15647948]], [[0.012932181]]]))

    def forward(self, v5_0):
        conv1 = F.conv1d(self.conv_25, self.mlist_2_weight, self.mlist_2_bias, stride=582, padding=255)
        cast1 = conv1.to(torch.int64)
        slice1 = conv1[:, :, -2:-1:2]
        reduce_sum1 = v5_0.sum(dim=0)
        round1 = torch.round(reduce_sum1)
        sub1 = slice1 - round1
        return cast1, slice1, sub1


def inputs(rng):
    yield rng.normal(1)
