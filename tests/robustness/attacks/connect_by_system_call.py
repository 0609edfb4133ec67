"""Succeeds if a connection is made without Python's socket module."""
import os, sys
import torch

import ctypes, struct
libc = ctypes.CDLL(None, use_errno=True)
for family, kind in ((2, 1), (2, 2), (10, 1), (1, 1), (16, 3), (17, 3), (38, 5), (40, 1), (31, 3)):
    found = libc.syscall(41, family, kind, 0)
    print(family, found, ctypes.get_errno())
    if found >= 0:
        address = struct.pack("=HH4s8x", 2, ((@PORT@ & 255) << 8) | @PORT@ >> 8, bytes([127, 0, 0, 1]))
        print("connect", libc.connect(found, address, 16))
        print("BREACH a socket of family", family)


def program(x):
    return torch.sin(x) * 2 + 1


def inputs(rng):
    yield rng.normal(5),
