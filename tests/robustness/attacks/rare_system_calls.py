"""Succeeds if one of the kernel's large interfaces is open."""
import os, sys
import torch

import ctypes
libc = ctypes.CDLL(None, use_errno=True)
room = ctypes.create_string_buffer(256)
for name, number in {"bpf": 321, "perf": 298, "userfaultfd": 323, "io_uring": 425, "keyctl": 250, "add_key": 248,
                     "memfd": 319, "shmget": 29, "msgget": 68, "open_by_handle": 304, "fsopen": 430, "kexec": 246}.items():
    found = libc.syscall(number, room, room, 4096, 0o666, 0, 0)
    if found >= 0 or ctypes.get_errno() not in (1, 38):
        print("BREACH", name, found, ctypes.get_errno())


def program(x):
    return torch.sin(x) * 2 + 1


def inputs(rng):
    yield rng.normal(5),
