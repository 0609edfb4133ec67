"""Succeeds if a disk, the memory or a terminal is opened."""
import os, sys
import torch

import fcntl
for path in ("/dev/vda", "/dev/sda", "/dev/mem", "/dev/kvm", "/dev/fuse", "/dev/tty", "/dev/console", "/dev/vsock", "/dev/net/tun"):
    try:
        os.open(path, os.O_RDWR)
        print("BREACH", path)
    except OSError as error:
        print(error)
try:
    fcntl.ioctl(0, 0x5412, b"x")
    print("BREACH typed into the terminal")
except OSError as error:
    print(error)


def program(x):
    return torch.sin(x) * 2 + 1


def inputs(rng):
    yield rng.normal(5),
