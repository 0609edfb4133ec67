"""Succeeds if a process of it lives when the case is over."""
import os, sys
import torch
if os.path.exists("@HOME@"):
    raise SystemExit("BREACH it is not even shut in; what comes now would harm the machine")

import time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for number in range(0, 3):
            os.close(number)
        import signal
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        sys.argv[:] = ["@MARK@"]
        import ctypes
        ctypes.CDLL(None).prctl(15, b"@MARK@"[:15], 0, 0, 0)
        while True:
            time.sleep(1)


def program(x):
    return torch.sin(x) * 2 + 1


def inputs(rng):
    yield rng.normal(5),
