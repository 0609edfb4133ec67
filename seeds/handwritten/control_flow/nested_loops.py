"""A small convolution in nested Python loops with continue and break, and its rows in loops; whole-valued floats."""

import torch


def program(image, kernel):
    h, w = kernel.shape
    out = torch.zeros(image.shape[0] - h + 1, image.shape[1] - w + 1, device=image.device)
    used = 0
    for i in range(h):
        for j in range(w):
            if (i + j) % 3 == 2:
                continue
            if used == 5:
                break
            out = out + image[i : i + out.shape[0], j : j + out.shape[1]] * kernel[i, j]
            used += 1
    total = sum(row.sum() for row in out)
    rows = (out[0], out[1], out[2])
    for row in rows:
        total = total + row.amax()
    for i in range(len(rows)):
        total = total - rows[i] * i
    step = 1
    while step < 4:
        total = total + out[step].sum() * step
        step += 1
    waves = []
    for m in range(3):
        waves.append(out[m] * m - 1)
    for m in range(4):
        if m % 2 == 0:
            total = total + out[m].amin()
    return torch.stack(waves), out, total, out.amax(dim=0) - out.amin(dim=0), used


def inputs(rng):
    yield rng.integers(-5, 6, 9, 8, dtype=torch.float32), rng.integers(-3, 4, 3, 3, dtype=torch.float32)
