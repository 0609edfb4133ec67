"""Succeeds if another process's root, folder or descriptors can be entered."""
import os, sys
import torch

for pid in (1, os.getppid(), @PARENT@):
    for name in ("root", "cwd", "map_files", *(f"fd/{number}" for number in range(64))):
        try:
            print("BREACH", pid, name, os.readlink(f"/proc/{pid}/{name}"))
        except OSError as error:
            print(pid, name, error)
    try:
        print(open(f"/proc/{pid}/root/@SECRET_FILE@").read())
    except OSError as error:
        print(error)


def program(x):
    return torch.sin(x) * 2 + 1


def inputs(rng):
    yield rng.normal(5),
