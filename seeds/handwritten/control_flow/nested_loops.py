"""A small convolution in nested Python loops with continue and break, over whole-valued floats."""

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
    return out, total, out.amax(dim=0) - out.amin(dim=0), used


def inputs(rng):
    yield rng.integers(-5, 6, 9, 8, dtype=torch.float32), rng.integers(-3, 4, 3, 3, dtype=torch.float32)
