"""Succeeds if a hard link to a file outside makes it writable."""
import os, sys
import torch
if os.path.exists("@HOME@"):
    raise SystemExit("BREACH it is not even shut in; what comes now would harm the machine")

import eqfuzz
for path in ("@CANARY@", eqfuzz.__file__, torch.__file__):
    try:
        os.link(path, "linked")
        open("linked", "a").write("# BREACH")
        print("BREACH")
    except OSError as error:
        print(error)
    try:
        os.chmod(path, 0o777)
        print("BREACH")
    except OSError as error:
        print(error)


def program(x):
    return torch.sin(x) * 2 + 1


def inputs(rng):
    yield rng.normal(5),
