"""Models that the tests export."""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import nn


class Residual(nn.Module):
    """A block of a ResNet; ``stride`` and ``width`` change its shortcut."""

    def __init__(self, stride: int = 1, width: int = 8) -> None:
        super().__init__()
        self.first = nn.Conv2d(8, width, 3, stride, 1, bias=False)
        self.norm = nn.BatchNorm2d(width)
        self.second = nn.Conv2d(width, width, 3, padding=1)
        self.shortcut = nn.Conv2d(8, width, 1, stride) if stride > 1 or width != 8 else nn.Identity()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.relu(self.second(F.relu(self.norm(self.first(x)))) + self.shortcut(x))


class Classifier(nn.Module):
    """A convolution, pooling and a linear layer."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, stride=2, padding=1)
        self.head = nn.Linear(8, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = F.max_pool2d(F.relu(self.stem(x)), 2)
        return F.log_softmax(self.head(F.adaptive_avg_pool2d(x, 1).flatten(1)), dim=-1)


class Attention(nn.Module):
    """Self-attention written out, with views that depend on the sizes."""

    def __init__(self, mask: bool = False) -> None:
        super().__init__()
        self.project, self.out, self.mask = nn.Linear(16, 48), nn.Linear(16, 16), mask

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        q, k, v = self.project(x).view(batch, length, 3, 4, width // 4).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-1, -2) / 2.0
        if self.mask:
            scores = scores.masked_fill(torch.ones(length, length).triu(1).bool(), -1e9)
        return self.out((scores.softmax(-1) @ v).transpose(1, 2).reshape(batch, length, width))


class Transformer(nn.Module):
    """One layer over embedded words."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(30, 16), nn.Embedding(12, 16)
        self.layer = nn.TransformerEncoderLayer(16, 4, 32, activation="gelu", batch_first=True, norm_first=True)
        self.norm = nn.LayerNorm(16)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.words(tokens) + self.places(torch.arange(tokens.shape[1]))
        return self.norm(self.layer(x)) @ self.words.weight.T


class First(nn.Module):
    """The first result of a layer that returns several, for a recurrent one all steps."""

    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layer(x)[0]


class Call(nn.Module):
    """A module that calls a function."""

    def __init__(self, function: Callable[[torch.Tensor], torch.Tensor]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.function(x)


IMAGE = (2, 8, 9, 10)
MODELS: dict[str, tuple[Callable[[], nn.Module], Callable[[], torch.Tensor]]] = {
    "classifier": (Classifier, lambda: torch.randn(2, 3, 16, 16)),
    "residual": (Residual, lambda: torch.randn(IMAGE)),
    "strided_residual": (lambda: Residual(2, 12), lambda: torch.randn(IMAGE)),
    "depthwise": (
        lambda: nn.Sequential(nn.Conv2d(8, 8, 3, padding=2, dilation=2, groups=8), nn.Hardswish(), nn.Conv2d(8, 4, 1)),
        lambda: torch.randn(IMAGE),
    ),
    "group_norm": (lambda: nn.Sequential(nn.GroupNorm(2, 8), nn.SiLU()), lambda: torch.randn(IMAGE)),
    "instance_norm": (lambda: nn.InstanceNorm2d(8, affine=True), lambda: torch.randn(IMAGE)),
    "decoder": (
        lambda: nn.Sequential(nn.ConvTranspose2d(8, 6, 3, 2, 1, output_padding=1), nn.PReLU(6), nn.PixelShuffle(1)),
        lambda: torch.randn(IMAGE),
    ),
    "pixel_shuffle": (lambda: nn.Sequential(nn.PixelShuffle(2), nn.ELU()), lambda: torch.randn(IMAGE)),
    "upsampling": (
        lambda: nn.Sequential(nn.Upsample(scale_factor=2, mode="bilinear"), nn.Conv2d(8, 4, 3), nn.Tanh()),
        lambda: torch.randn(IMAGE),
    ),
    "pools": (
        lambda: nn.Sequential(nn.AvgPool2d(3, 2, 1, ceil_mode=True), nn.MaxPool2d(2, 1), nn.ReLU6()),
        lambda: torch.randn(IMAGE),
    ),
    "one_dimension": (
        lambda: nn.Sequential(nn.Conv1d(4, 6, 5, padding=2), nn.BatchNorm1d(6), nn.MaxPool1d(2)),
        lambda: torch.randn(2, 4, 20),
    ),
    "three_dimensions": (
        lambda: nn.Sequential(nn.Conv3d(2, 4, 3, padding=1), nn.LeakyReLU(0.2), nn.AvgPool3d(2)),
        lambda: torch.randn(1, 2, 6, 6, 6),
    ),
    "lstm": (lambda: First(nn.LSTM(5, 7, batch_first=True)), lambda: torch.randn(3, 6, 5)),
    "bidirectional_lstm": (lambda: First(nn.LSTM(5, 7, 2, bidirectional=True)), lambda: torch.randn(6, 3, 5)),
    "gru": (lambda: First(nn.GRU(5, 7)), lambda: torch.randn(6, 3, 5)),
    "rnn": (lambda: First(nn.RNN(5, 7, nonlinearity="relu")), lambda: torch.randn(6, 3, 5)),
    "attention": (Attention, lambda: torch.randn(2, 7, 16)),
    "masked_attention": (lambda: Attention(mask=True), lambda: torch.randn(2, 7, 16)),
    "transformer": (Transformer, lambda: torch.randint(0, 30, (2, 9))),
    "statistics": (
        lambda: Call(lambda x: torch.cat((x.cumsum(1), x.topk(3, 1)[0], x.argmax(1, keepdim=True).float()), 1)),
        lambda: torch.randn(2, 8, 5),
    ),
    "indexing": (
        lambda: Call(lambda x: x[:, 1:-1:2, ::3].flip(1).repeat(1, 1, 2).gather(2, torch.tensor([[[1, 0]]] * 2))),
        lambda: torch.randn(2, 8, 5),
    ),
}
