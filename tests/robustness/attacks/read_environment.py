"""Succeeds if the secret of the parent's environment is printed."""
import os, sys
import torch

for name, value in os.environ.items():
    print(name, value)


def program(x):
    return torch.sin(x) * 2 + 1


def inputs(rng):
    yield rng.normal(5),
