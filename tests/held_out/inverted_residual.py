# Mobile inverted bottleneck with squeeze-and-excitation, KernelBench layout.
from typing import Callable, List, Optional

import torch
import torch.nn as nn
from torch import Tensor


def _make_divisible(v: float, divisor: int, min_value: Optional[int] = None) -> int:
    if min_value is None:
        min_value = divisor
    new_v = max(min_value, int(v + divisor / 2) // divisor * divisor)
    if new_v < 0.9 * v:
        new_v += divisor
    return new_v


class ConvNormAct(nn.Sequential):
    def __init__(self, in_ch, out_ch, kernel_size=3, stride=1, groups=1,
                 activation_layer: Optional[Callable[..., nn.Module]] = nn.Hardswish) -> None:
        layers: List[nn.Module] = [
            nn.Conv2d(in_ch, out_ch, kernel_size, stride, (kernel_size - 1) // 2, groups=groups, bias=False),
            nn.BatchNorm2d(out_ch, eps=0.001, momentum=0.01),
        ]
        if activation_layer is not None:
            layers.append(activation_layer())
        super().__init__(*layers)


class SqueezeExcitation(nn.Module):
    def __init__(self, channels: int, squeeze_factor: int = 4) -> None:
        super().__init__()
        squeezed = _make_divisible(channels // squeeze_factor, 4)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc1 = nn.Conv2d(channels, squeezed, 1)
        self.fc2 = nn.Conv2d(squeezed, channels, 1)

    def _scale(self, input: Tensor) -> Tensor:
        scale = self.avgpool(input)
        scale = torch.relu(self.fc1(scale))
        scale = self.fc2(scale)
        return torch.clamp(scale + 3.0, 0.0, 6.0) / 6.0

    def forward(self, input: Tensor) -> Tensor:
        scale = self._scale(input)
        return scale * input


class Model(nn.Module):
    """Inverted residual: expand, depthwise, squeeze, project, and add the input where shapes allow it."""

    def __init__(self, inp: int, oup: int, stride: int, expand_ratio: int):
        super(Model, self).__init__()
        if not (1 <= stride <= 2):
            raise ValueError(f"illegal stride value {stride}")
        hidden_dim = _make_divisible(inp * expand_ratio, 4)
        self.use_res_connect = stride == 1 and inp == oup
        self.expand = ConvNormAct(inp, hidden_dim, kernel_size=1)
        self.depthwise = ConvNormAct(hidden_dim, hidden_dim, stride=stride, groups=hidden_dim)
        self.se = SqueezeExcitation(hidden_dim)
        self.project = ConvNormAct(hidden_dim, oup, kernel_size=1, activation_layer=None)

        for m in self.modules():
            if isinstance(m, nn.Conv2d):
                nn.init.kaiming_normal_(m.weight, mode="fan_out")
                if m.bias is not None:
                    nn.init.zeros_(m.bias)

    def forward(self, x: Tensor) -> Tensor:
        identity = x
        out = self.expand(x)
        out = self.depthwise(out)
        out = self.se(out)
        out = self.project(out)
        if self.use_res_connect:
            out = out + identity
        pooled = out.mean([2, 3])
        return out, torch.flatten(pooled, 1)


batch_size = 2
in_channels = 6
height, width = 9, 7
stride = 1
expand_ratio = 3


def get_inputs():
    return [torch.rand(batch_size, in_channels, height, width)]


def get_init_inputs():
    return [in_channels, in_channels, stride, expand_ratio]
