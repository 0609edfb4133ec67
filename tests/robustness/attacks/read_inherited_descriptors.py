"""Succeeds if an inherited descriptor leads to a file outside."""
import os, sys
import torch

for entry in os.listdir("/proc/self/fd"):
    try:
        target = os.readlink(f"/proc/self/fd/{entry}")
    except OSError:
        continue
    print(entry, target)
    if target.startswith("/") and not target.startswith(("/dev/null", "/proc", "/tmp/case", "/memfd:")) and "(deleted)" not in target:
        print("BREACH", entry, target)
    if target.startswith("/"):
        for above in ("..", "../..", "../../.."):
            try:
                found = os.open(above + "/@SECRET_FILE@", os.O_RDONLY, dir_fd=int(entry))
                print("BREACH", os.read(found, 100))
            except OSError:
                pass


def program(x):
    return torch.sin(x) * 2 + 1


def inputs(rng):
    yield rng.normal(5),
