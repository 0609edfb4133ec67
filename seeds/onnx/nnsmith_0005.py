# /// eqfuzz
# source = "onnx"
# model = "nnsmith_0005.onnx"
# sha256 = "2d0c48b3058a0c64"
# opset = 17
# producer = "pytorch 2.15.0"
# ///
"""nnsmith_0005.onnx: 10 Constant, 2 Concat, 2 Slice, 1 Min, …."""

import torch
from torch import nn


class Program(nn.Module):
    def forward(self, v6_0, v5_0):
        concat1 = torch.cat((v5_0, v6_0), dim=3)
        min1 = torch.minimum(concat1, concat1)
        abs1 = torch.abs(concat1)
        cast1 = abs1.to(torch.float64)
        reshape1 = abs1.reshape((-1,))
        reduce_max1 = reshape1.amax(dim=0)
        clip1 = torch.clamp(reduce_max1, min=-1, max=1)
        slice1 = concat1[:1]
        return min1, cast1, clip1, slice1


def inputs(rng):
    yield rng.integers(0, 2, 1, 33, 1, 45), rng.integers(0, 2, 1, 33, 1, 1)
