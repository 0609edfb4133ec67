"""Succeeds if a setting of the kernel is changed."""
import os, sys
import torch
if os.path.exists("@HOME@"):
    raise SystemExit("BREACH it is not even shut in; what comes now would harm the machine")

import ctypes
for path in ("/proc/sys/kernel/core_pattern", "/proc/sys/kernel/pid_max", "/proc/sysrq-trigger", "/proc/sys/kernel/modprobe", "/proc/sys/vm/swappiness"):
    try:
        with open(path, "r+") as file:
            value = file.read()
            file.seek(0)
            file.write(value)
        print("BREACH", path)
    except OSError as error:
        print(path, error)
libc = ctypes.CDLL(None, use_errno=True)
name = os.uname().nodename.encode()
if libc.sethostname(name, len(name)) == 0:
    print("BREACH hostname")


def program(x):
    return torch.sin(x) * 2 + 1


def inputs(rng):
    yield rng.normal(5),
