"""Succeeds if it gives itself a day."""
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

say({"event": "stage", "stage": "compile", "seconds": 90_000.0, "variant": 0, "device": "cpu", "config": "inductor"})
import time
time.sleep(100_000)


def program(x):
    return torch.sin(x) * 2 + 1


def inputs(rng):
    yield rng.normal(5),
