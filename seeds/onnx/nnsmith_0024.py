# /// eqfuzz
# source = "onnx"
# model = "nnsmith_0024.onnx"
# sha256 = "f8c9886608980559"
# opset = 17
# producer = "pytorch 2.15.0"
# ///
"""nnsmith_0024.onnx: 2 Cast, 1 Add, 1 Constant, 1 Squeeze, …."""

import torch
from torch import nn


class Program(nn.Module):
    def forward(self, v8_0, v7_0, v6_0, v4_0, v2_0, v1_0):
        cast1 = v8_0.to(torch.int32)
        add1 = v8_0 + v8_0
        squeeze1 = v8_0.squeeze(0)
        arg_min1 = v7_0.argmin(0)
        where1 = torch.where(v6_0, v7_0, v8_0)
        concat1 = torch.cat((v1_0, v2_0, where1, v4_0), dim=4)
        min1 = torch.minimum(concat1, v2_0)
        return v8_0, cast1, add1, squeeze1, arg_min1, min1


def inputs(rng):
    yield (
        rng.integers(0, 2, 1, 1, 1, 1, 1),
        rng.integers(0, 2, 1, 1, 1, 1),
        rng.booleans(1, 1, 1, 50, 2),
        rng.integers(0, 2, 1, 1, 1, 50, 1),
        rng.integers(0, 2, 1, 1, 1, 50, 1),
        rng.integers(0, 2, 1, 1, 1, 50, 20),
    )
