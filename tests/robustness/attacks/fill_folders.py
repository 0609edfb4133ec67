"""Succeeds if a folder is left that cannot be cleaned up."""
import os, sys
import torch

here = os.getcwd()
for number in range(3000):
    os.mkdir("d")
    os.chdir("d")
    open("f", "w")
os.chdir(here)
for number in range(3000):
    open(f"n{number}", "w")
os.makedirs("/tmp/locked/inside/deeper")
os.chmod("/tmp/locked/inside", 0)
os.chmod("/tmp/locked", 0)


def program(x):
    return torch.sin(x) * 2 + 1


def inputs(rng):
    yield rng.normal(5),
