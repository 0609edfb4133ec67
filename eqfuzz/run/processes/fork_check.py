"""Checks that backward runs in forks of forks of a process that has compiled: ``python -m`` this module.

Exits 0 if so; otherwise the last line on stderr says why not. It needs the environment of a zygote: no CUDA device.
"""

from __future__ import annotations

import os
import sys

import torch

from eqfuzz.errors import one_line
from eqfuzz.torch_internals.autograd import start_autograd_engine
from eqfuzz.torch_internals.dynamo import forget_compiled_code

GENERATIONS = 2
"""A child is a fork of the zygote, a compiled cell a fork of its child."""


def check(generations: int = GENERATIONS) -> bool:
    """Run backward here, and the same in a fork, so many times over; each writes what it fails with on stderr."""
    try:
        x = torch.ones(3, requires_grad=True)
        torch.compile(torch.sin, backend="aot_eager")(x).sum().backward()
    except RuntimeError as error:
        sys.stderr.write(one_line(str(error)) + "\n")
        sys.stderr.flush()  # what follows may end without
        return False
    if generations == 0:
        return True
    child = os.fork()
    if child == 0:
        forget_compiled_code()
        os._exit(0 if check(generations - 1) else 1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


if __name__ == "__main__":
    torch.set_num_threads(1)
    start_autograd_engine()
    sys.exit(0 if check() else 1)
