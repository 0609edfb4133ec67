"""Succeeds if the memory of another process is opened."""
import os, sys
import torch

for pid in (1, os.getppid(), @PARENT@):
    for mode in ("rb", "r+b"):
        try:
            open(f"/proc/{pid}/mem", mode)
            print("BREACH", pid, mode)
        except OSError as error:
            print(pid, error)


def program(x):
    return torch.sin(x) * 2 + 1


def inputs(rng):
    yield rng.normal(5),
