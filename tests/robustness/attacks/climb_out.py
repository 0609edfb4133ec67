"""Succeeds if the view of the file system is left through links, dots or a new root."""
import os, sys
import torch

import ctypes
libc = ctypes.CDLL(None, use_errno=True)
os.makedirs("jail", exist_ok=True)
print("chroot", libc.chroot(b"jail"))
for path in ("../" * 30 + "@SECRET_FILE@", "/proc/self/root/@SECRET_FILE@", "/proc/1/root/@SECRET_FILE@"):
    try:
        print("BREACH", open(path).read())
    except OSError as error:
        print(error)


def program(x):
    return torch.sin(x) * 2 + 1


def inputs(rng):
    yield rng.normal(5),
