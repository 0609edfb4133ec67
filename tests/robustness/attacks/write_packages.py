"""Succeeds if a file of eqfuzz, torch or Python is changed, or one is put beside it."""
import os, sys
import torch
if os.path.exists("@HOME@"):
    raise SystemExit("BREACH it is not even shut in; what comes now would harm the machine")

import site
import eqfuzz
places = [os.path.dirname(eqfuzz.__file__), os.path.dirname(torch.__file__), os.path.dirname(os.__file__), "/usr/lib"]
for folder in (*places, *site.getsitepackages()):
    for name in ("sitecustomize.py", "__init__.py", "breach.pth"):
        try:
            open(f"{folder}/{name}", "a").write("# BREACH")
            print("BREACH", folder, name)
        except OSError as error:
            print(error)


def program(x):
    return torch.sin(x) * 2 + 1


def inputs(rng):
    yield rng.normal(5),
