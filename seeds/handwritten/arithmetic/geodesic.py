"""Great-circle distances between points given in degrees: sin, cos, atan2, sqrt."""

import math

import torch


def program(here, there):
    lat1, lon1 = (here * math.pi / 180).unbind(-1)
    lat2, lon2 = (there * math.pi / 180).unbind(-1)
    half_lat = torch.sin((lat2 - lat1) / 2)
    half_lon = torch.sin((lon2 - lon1) / 2)
    a = half_lat.square() + lat1.cos() * lat2.cos() * half_lon**2
    angle = 2 * torch.atan2(torch.sqrt(a), torch.sqrt(1 - a))
    return 6371.0 * angle, torch.rad2deg(angle).mean(), torch.hypot(half_lat, half_lon)


def inputs(rng):
    yield rng.uniform(300, 2, low=10, high=40, requires_grad=True), rng.uniform(300, 2, low=-40, high=-10)
