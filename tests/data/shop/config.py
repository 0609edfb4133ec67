"""Sizes of the models for text."""

from dataclasses import dataclass

WIDTHS = {"small": 8}
WIDTHS["large"] = 16


@dataclass
class Config:
    width: int = WIDTHS["small"]
    depth: int = 2
    vocabulary: int = 32
