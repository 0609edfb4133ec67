"""Succeeds if the machine's accounts or logs can be read."""
import os, sys
import torch

for path in ("/etc/shadow", "/etc/passwd", "/etc/ssh", "/var/log", "/run", "/proc/kmsg", "/proc/kcore", "/dev/kmsg"):
    try:
        print("BREACH", path, os.listdir(path) if os.path.isdir(path) else open(path, "rb").read(20))
    except OSError as error:
        print(error)


def program(x):
    return torch.sin(x) * 2 + 1


def inputs(rng):
    yield rng.normal(5),
