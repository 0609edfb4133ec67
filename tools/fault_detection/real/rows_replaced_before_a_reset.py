"""Two rows of a buffer are replaced in a copy, then the buffer is reset."""

# /// defect
# cause = "Inductor reinplaces a scatter into an input that a later write overwrites"
# url = "https://github.com/pytorch/pytorch/issues/198094"
# torch = ">=2.13"
# kinds = ["wrong-result"]
# regex = 'slice_scatter'
# ///

import torch


def program(buffer, rows):
    patched = torch.slice_scatter(buffer, rows, dim=0, start=1, end=3)
    buffer.zero_()
    return patched, rows.sum(0)


def inputs(rng):
    yield rng.integers(1, 20, 4, 6), rng.integers(-20, 0, 2, 6)
