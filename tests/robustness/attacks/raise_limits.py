"""Succeeds if a limit is raised again."""
import os, sys
import torch

import resource
for name in ("AS", "FSIZE", "NOFILE", "NPROC", "CORE"):
    what = getattr(resource, f"RLIMIT_{name}")
    soft, hard = resource.getrlimit(what)
    for value in (resource.RLIM_INFINITY, hard + 1):
        try:
            resource.setrlimit(what, (value, value))
            print("BREACH", name, soft, hard)
        except (OSError, ValueError) as error:
            print(name, soft, hard, error)


def program(x):
    return torch.sin(x) * 2 + 1


def inputs(rng):
    yield rng.normal(5),
