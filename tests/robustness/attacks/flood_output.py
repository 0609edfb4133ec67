"""Succeeds if it prints without an end and is not stopped."""
import os, sys
import torch

while True:
    os.write(1, b"x" * 60_000)


def program(x):
    return torch.sin(x) * 2 + 1


def inputs(rng):
    yield rng.normal(5),
