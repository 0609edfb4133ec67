"""Succeeds if more memory is held than a case may hold."""
import os, sys
import torch
if os.path.exists("@HOME@"):
    raise SystemExit("BREACH it is not even shut in; what comes now would harm the machine")

held = []
try:
    while True:
        held.append(bytearray(64 * 2**20))
        held[-1][::4096] = b"x" * len(held[-1][::4096])
        if len(held) * 64 * 2**20 > @MEMORY@ * 2:
            print("BREACH")
            break
except MemoryError:
    held.clear()
    print("no more")


def program(x):
    return torch.sin(x) * 2 + 1


def inputs(rng):
    yield rng.normal(5),
