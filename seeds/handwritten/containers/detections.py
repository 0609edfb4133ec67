"""Boxes as a dataclass: areas, intersections and overlaps, returned as one object."""

from dataclasses import dataclass

import torch


@dataclass
class Boxes:
    corners: torch.Tensor
    area: torch.Tensor
    overlap: torch.Tensor


def area_of(boxes):
    return (boxes[..., 2:] - boxes[..., :2]).clamp(min=0).prod(dim=-1)


def program(centres, sizes):
    corners = torch.cat([centres - sizes / 2, centres + sizes / 2], dim=-1)
    low = torch.maximum(corners[:, None, :2], corners[None, :, :2])
    high = torch.minimum(corners[:, None, 2:], corners[None, :, 2:])
    shared = area_of(torch.cat([low, high], dim=-1))
    area = area_of(corners)
    return Boxes(corners, area, shared / (area[:, None] + area[None] - shared))


def inputs(rng):
    yield rng.uniform(12, 2, high=5), rng.uniform(12, 2, low=1, high=3)
    yield rng.uniform(5, 2, high=5), rng.uniform(5, 2, low=1, high=3)
