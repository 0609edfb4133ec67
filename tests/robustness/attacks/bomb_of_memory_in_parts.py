"""Succeeds if many processes together hold more memory than a case may hold."""
import os, sys
import torch
if os.path.exists("@HOME@"):
    raise SystemExit("BREACH it is not even shut in; what comes now would harm the machine")

import time
part = @MEMORY@ // 3
for _ in range(6):
    if os.fork() == 0:
        held = bytearray(part)
        held[::4096] = b"x" * len(held[::4096])
        time.sleep(1000)
time.sleep(15)
print("BREACH")


def program(x):
    return torch.sin(x) * 2 + 1


def inputs(rng):
    yield rng.normal(5),
