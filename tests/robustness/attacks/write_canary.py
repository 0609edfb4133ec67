"""Succeeds if the canary outside is changed, or a file put beside it."""
import os, sys
import torch

for path in ("@CANARY@", "@HOME@/.bashrc", "@HOME@/new", "/etc/cron.d/new", "/var/tmp/breach", "/new"):
    for mode in ("w", "a"):
        try:
            open(path, mode).write("BREACH")
            print("BREACH", path)
        except OSError as error:
            print(error)


def program(x):
    return torch.sin(x) * 2 + 1


def inputs(rng):
    yield rng.normal(5),
