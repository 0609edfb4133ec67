"""Succeeds if its own memory broken, it takes others down."""
import os, sys
import torch

import ctypes
print("falling")
ctypes.memset(id(torch.sin), 0xFF, 10_000)
ctypes.string_at(1)


def program(x):
    return torch.sin(x) * 2 + 1


def inputs(rng):
    yield rng.normal(5),
