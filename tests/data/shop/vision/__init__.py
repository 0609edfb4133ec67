"""Models for pictures."""

from .resnet import SmallResNet
