"""Succeeds if another process is traced, or its memory written."""
import os, sys
import torch

import ctypes
libc = ctypes.CDLL(None, use_errno=True)
for pid in (1, os.getppid(), @PARENT@):
    print(pid, libc.ptrace(16, pid, 0, 0), ctypes.get_errno())
    for option in (16, 0x4206):
        if libc.ptrace(option, pid, 0, 0) == 0:
            print("BREACH traced", pid)
    for number in (310, 311, 438):
        if libc.syscall(number, pid, 0, 0, 0, 0, 0) >= 0:
            print("BREACH", number, pid)


def program(x):
    return torch.sin(x) * 2 + 1


def inputs(rng):
    yield rng.normal(5),
