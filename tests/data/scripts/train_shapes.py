"""Train a small convolutional network to tell discs from squares in drawn images."""

from __future__ import annotations

import argparse
import dataclasses
import random
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

SIZE = 24


@dataclasses.dataclass
class Options:
    """What the command line says."""

    epochs: int
    batch: int
    rate: float
    checkpoint: Path | None


def parse() -> Options:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--batch", type=int, default=6)
    parser.add_argument("--rate", type=float, default=0.05)
    parser.add_argument("--checkpoint", type=Path)
    return Options(**vars(parser.parse_args()))


class Shapes(Dataset):
    """Images of one disc (class 0) or square (class 1) with noise."""

    def __init__(self, count: int, seed: int) -> None:
        self.count = count
        self.seed = seed

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        draw = random.Random(self.seed * 10_000 + index)
        row, column, radius = draw.uniform(8, 16), draw.uniform(8, 16), draw.uniform(3, 6)
        grid = torch.arange(SIZE, dtype=torch.float32)
        vertical, horizontal = (grid[:, None] - row).abs(), (grid[None, :] - column).abs()
        label = draw.randrange(2)
        inside = torch.maximum(vertical.expand(SIZE, SIZE), horizontal.expand(SIZE, SIZE)) < radius
        if label == 0:
            inside = (vertical**2 + horizontal**2) < radius**2
        noise = torch.tensor([draw.gauss(0, 0.1) for _ in range(SIZE * SIZE)]).reshape(SIZE, SIZE)
        return (inside.float() + noise)[None], label


class Residual(nn.Module):
    """Two convolutions around which the input passes by."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(channels)
        self.second = nn.Conv2d(channels, channels, 3, padding=1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.second(F.relu(self.norm(self.first(x))))


class ShapeNet(nn.Module):
    """Classifies images by a stem, residual blocks and a mean over positions."""

    def __init__(self, channels: int = 8, blocks: int = 2) -> None:
        super().__init__()
        self.stem = nn.Conv2d(1, channels, 3, stride=2, padding=1)
        self.blocks = nn.ModuleList(Residual(channels) for _ in range(blocks))
        self.head = nn.Linear(channels, 2)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        x = F.relu(self.stem(images))
        for block in self.blocks:
            x = block(x)
        return self.head(x.mean(dim=(2, 3)))


def train(model: nn.Module, loader: DataLoader, options: Options) -> float:
    optimizer = torch.optim.AdamW(model.parameters(), lr=options.rate)
    loss = torch.tensor(0.0)
    for _ in range(options.epochs):
        for images, labels in loader:
            loss = F.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return loss.item()


def main() -> None:
    options = parse()
    torch.manual_seed(0)
    model = torch.compile(ShapeNet())
    loader = DataLoader(Shapes(32, seed=1), batch_size=options.batch, shuffle=True)
    print(f"loss {train(model, loader, options):.3f}")
    if options.checkpoint is not None:
        torch.save(model.state_dict(), options.checkpoint)


if __name__ == "__main__":
    main()
