"""Succeeds if the case is said to be over, and goes on."""
import os, sys
import torch

import json
def say(*events):
    for entry in os.listdir("/proc/self/fd"):
        try:
            number = int(entry)
            if number > 2 and os.readlink(f"/proc/self/fd/{entry}").startswith("pipe:"):
                for event in events:
                    os.write(number, event if isinstance(event, bytes) else json.dumps(event).encode() + b"\n")
        except OSError:
            pass

say({"event": "finished", "error": None, "traceback": None, "cpu_total": 0.0})
import time
if os.fork() == 0:
    os.setsid()
time.sleep(1000)


def program(x):
    return torch.sin(x) * 2 + 1


def inputs(rng):
    yield rng.normal(5),
