"""The range of a byte image, and the image stretched to it."""

# /// defect
# cause = "The vectorised minimum of 8-bit integers starts from 0"
# url = "https://github.com/pytorch/pytorch/issues/191499"
# torch = ">=2.13"
# kinds = ["wrong-result"]
# regex = 'amin'
# ///

import torch


def program(image):
    low, high = image.amin(), image.amax()
    return low, high, (image - low).sum(1)


def inputs(rng):
    yield (rng.integers(40, 90, 6, 24, dtype=torch.uint8),)
