"""Write models to files in the current folder, as other tools have them: residual.pt2, detector.pt2, mlp.pt, models/."""

from pathlib import Path

import torch
from torch import nn


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(4, 4, 3, padding=1)
        self.norm = nn.BatchNorm2d(4)
        self.second = nn.Conv2d(4, 4, 3, padding=1)

    def forward(self, x):
        return torch.relu(self.norm(self.second(torch.relu(self.first(x)))) + x)


class Detector(nn.Module):
    def forward(self, x):
        return torch.cond(x.sum() > 0, lambda y: y + 1, lambda y: y - 1, (x,))


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 6, 3, padding=1)
        self.second = nn.Conv2d(6, 8, 3)
        self.fc = nn.Linear(8, 5)

    def forward(self, x):
        x = torch.relu(self.second(torch.relu(self.first(x))))
        return self.fc(x.mean((2, 3)))


def main():
    torch.manual_seed(0)
    images = torch.randn(2, 4, 8, 8)
    for model in (Residual(), Detector()):
        program = torch.export.export(model.eval(), (images,))
        torch.export.save(program, f"{type(model).__name__.lower()}.pt2")
    torch.save(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)), "mlp.pt")
    Path("models").mkdir(exist_ok=True)
    torch.onnx.export(Classifier().eval(), (torch.randn(2, 3, 8, 8),), "models/classifier.onnx", dynamo=False)


if __name__ == "__main__":
    main()
