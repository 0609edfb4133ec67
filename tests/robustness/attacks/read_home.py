"""Succeeds if a file in the user's home is printed."""
import os, sys
import torch

for path in ("@SECRET_FILE@", os.path.expanduser("~/.netrc"), os.path.expanduser("~/.ssh")):
    try:
        print(open(path).read())
    except OSError as error:
        print(error)
for folder in ("@HOME@", "/root", "/home", "/work"):
    try:
        print(os.listdir(folder))
    except OSError as error:
        print(error)
if os.path.exists("@SECRET_FILE@"):
    print("BREACH it is there")


def program(x):
    return torch.sin(x) * 2 + 1


def inputs(rng):
    yield rng.normal(5),
