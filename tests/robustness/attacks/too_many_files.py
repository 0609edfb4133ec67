"""Succeeds if so many empty files are made that the kernel's memory is full."""
import os, sys
import torch
if os.path.exists("@HOME@"):
    raise SystemExit("BREACH it is not even shut in; what comes now would harm the machine")

number = 0
while True:
    os.close(os.open(f"/tmp/n{number}", os.O_CREAT | os.O_WRONLY))
    number += 1
    if number > 2_000_000:
        print("BREACH")
        break


def program(x):
    return torch.sin(x) * 2 + 1


def inputs(rng):
    yield rng.normal(5),
