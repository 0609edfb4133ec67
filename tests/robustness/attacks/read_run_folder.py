"""Succeeds if the folder of the run can be read."""
import os, sys
import torch

try:
    print("BREACH", os.listdir("@OUT@"))
except OSError as error:
    print(error)


def program(x):
    return torch.sin(x) * 2 + 1


def inputs(rng):
    yield rng.normal(5),
