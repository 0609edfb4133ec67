"""Succeeds if a right is gained by a set-user-id program or a new name space."""
import os, sys
import torch
if os.path.exists("@HOME@"):
    raise SystemExit("BREACH it is not even shut in; what comes now would harm the machine")

import ctypes, subprocess
libc = ctypes.CDLL(None, use_errno=True)
for flags in (0x10000000, 0x00020000, 0x10020000, 0x20000000, 0x40000000):
    if libc.unshare(flags) == 0:
        print("BREACH unshare", hex(flags))
if libc.mount(b"none", b"/tmp", b"tmpfs", 0, None) == 0:
    print("BREACH mount")
if libc.mount(b"none", b"/", None, 32 | 4096, None) == 0:
    print("BREACH remount")
print(subprocess.run(["bash", "-c", "unshare -Ur true && echo BREACH; mknod /tmp/disk b 254 0 && echo BREACH"], capture_output=True, text=True).stdout)
for line in open("/proc/self/status"):
    if line.startswith("CapEff") and int(line.split()[1], 16):
        print("BREACH", line)


def program(x):
    return torch.sin(x) * 2 + 1


def inputs(rng):
    yield rng.normal(5),
