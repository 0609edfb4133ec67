"""A function whose result depends on globals, numbers, flags, dictionaries, lists, shapes, strides and shared memory."""

import torch

SCALE = 0.5
DEPTH = 2
SHIFTED = True


def program(x, y, weights, options, factors, ratio, level, doubled):
    z = x * SCALE * ratio + level
    for _ in range(DEPTH):
        z = z * 1.5
    if SHIFTED and "shift" in options:
        z = z + options["shift"]
    z = z * options.get("scale", 2) * len(options)
    for factor in factors:
        z = z * factor
    if doubled:
        z = z + z
    y.add_(1)
    after = x * 2 - y
    if x.is_contiguous() and x.shape[0] > 3:
        z = z - 1
    if torch.is_grad_enabled() and x.shape[1] < 9:
        z = z / 2
    flat = x.t().reshape(-1) * x.stride(0)
    return z, after, flat, (x @ weights).relu(), z.dtype == torch.float32, x.shape[0] * ratio


def inputs(rng):
    options, factors = {"scale": 3, "shift": 0.25}, [2, 0.5, 3]
    yield rng.normal(5, 6), rng.normal(5, 6), rng.normal(6, 2, requires_grad=True), options, factors, 0.75, 4, False
