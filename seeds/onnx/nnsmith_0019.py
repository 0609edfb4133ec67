# /// eqfuzz
# source = "onnx"
# model = "nnsmith_0019.onnx"
# sha256 = "1f41b9a59cb246b2"
# opset = 17
# producer = "pytorch 2.15.0"
# ///
"""nnsmith_0019.onnx: 2 Constant, 1 MatMul, 1 Concat, 1 Sub, …."""

import torch
import torch.nn.functional as F
from torch import nn


class Program(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mlist_1_data", torch.tensor([[-0.28361815]]))
        self.register_buffer("mlist_0_data", torch.tensor([[[-0.0020959708]]]))
        self.register_buffer("mlist_2_data", torch.tensor([[[-0.2790602]]]))

    def forward(self, v9_0, v8_0, v4_0, v6_0):
        product1 = self.mlist_1_data @ self.mlist_0_data
        concat1 = torch.cat((v4_0, v8_0, v9_0, product1, self.mlist_2_data), dim=1)
        sub1 = concat1 - v6_0
        abs1 = torch.abs(sub1)
        clip1 = torch.clamp(abs1, min=-1.5, max=1.5)
        relu1 = F.leaky_relu(abs1, 0.009999999776482582)
        ceil1 = torch.ceil(relu1)
        mul1 = relu1 * relu1
        return clip1, ceil1, mul1


def inputs(rng):
    yield rng.normal(1, 1, 1), rng.normal(1, 1, 1), rng.normal(1, 22, 1), rng.normal(16, 6, 1, 26, 1)
