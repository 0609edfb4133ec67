"""Succeeds if cleaning up after it removes or changes what its links point at."""
import os, sys
import torch

here = os.getcwd()
above = os.path.dirname(here)
for place in (here, above, "/tmp", "/dev/shm"):
    for number, target in enumerate(("@CANARY_FOLDER@", "@CANARY@", "@HOME@")):
        try:
            os.symlink(target, f"{place}/link{number}")
        except OSError as error:
            print(error)
try:
    os.chdir("/")
    os.rename(here, here + "-moved")
    os.symlink("@CANARY_FOLDER@", here)
except OSError as error:
    print(error)


def program(x):
    return torch.sin(x) * 2 + 1


def inputs(rng):
    yield rng.normal(5),
