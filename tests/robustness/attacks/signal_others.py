"""Succeeds if the test, the process that forks, or anybody else gets a signal that ends it."""
import os, sys
import torch
if os.path.exists("@HOME@"):
    raise SystemExit("BREACH it is not even shut in; what comes now would harm the machine")

import signal
for pid in (@PARENT@, os.getppid(), 1):
    for number in (signal.SIGUSR1, signal.SIGTERM, signal.SIGKILL):
        try:
            os.kill(pid, number)
            print("sent", pid, number)
        except OSError as error:
            print(pid, error)
try:
    os.kill(-1, signal.SIGCONT)
    os.killpg(@PARENT@, signal.SIGKILL)
except OSError as error:
    print(error)


def program(x):
    return torch.sin(x) * 2 + 1


def inputs(rng):
    yield rng.normal(5),
