"""Succeeds if a later case imports what it has written."""
import os, sys
import torch
if os.path.exists("@HOME@"):
    raise SystemExit("BREACH it is not even shut in; what comes now would harm the machine")

for folder in ("/tmp", "/tmp/case", os.getcwd(), *sys.path):
    for name in ("numpy", "sitecustomize", "torch", "secrets", "colorsys"):
        try:
            open(f"{folder}/{name}.py", "w").write("raise SystemExit('BREACH')")
        except OSError as error:
            print(error)
os.environ["PYTHONPATH"] = "/tmp"


def program(x):
    return torch.sin(x) * 2 + 1


def inputs(rng):
    yield rng.normal(5),
