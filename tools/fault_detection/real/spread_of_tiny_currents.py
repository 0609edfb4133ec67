"""The spread of currents that are measured in units far too large for them."""

# /// defect
# cause = "The C++ code of std and var accumulates in float32 where eager does in float64"
# url = "https://github.com/pytorch/pytorch/issues/197089"
# torch = ">=2.13"
# kinds = ["wrong-result"]
# regex = 'std'
# ///

import torch


def program(currents, unit):
    scaled = currents * unit
    return scaled.std(1), scaled.mean(1)


def inputs(rng):
    yield rng.integers(1, 90, 3, 8, dtype=torch.float32), 2.0**-100
