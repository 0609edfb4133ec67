"""Succeeds if a program of it lives when the case is over."""
import os, sys
import torch

import subprocess
subprocess.Popen(["bash", "-c", "trap '' TERM HUP; exec -a @MARK@ sleep 1000"], start_new_session=True)


def program(x):
    return torch.sin(x) * 2 + 1


def inputs(rng):
    yield rng.normal(5),
