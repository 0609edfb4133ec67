"""Succeeds if what is no message breaks the parent instead of the case."""
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

say(b"\xff\xfe\x00 BREACH \n", b"[" * 200_000 + b"\n")


def program(x):
    return torch.sin(x) * 2 + 1


def inputs(rng):
    yield rng.normal(5),
