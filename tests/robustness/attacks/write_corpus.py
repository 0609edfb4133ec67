"""Succeeds if a seed or a finding appears in the folder of the run."""
import os, sys
import torch

for place in ("@OUT@/findings/breach", "@OUT@/corpus", "@OUT@/cache", "@OUT@/cache/kernels", "@OUT@"):
    try:
        os.makedirs(place, exist_ok=True)
        open(f"{place}/breach.py", "w").write("BREACH")
        print("wrote", place)
    except OSError as error:
        print(error)


def program(x):
    return torch.sin(x) * 2 + 1


def inputs(rng):
    yield rng.normal(5),
