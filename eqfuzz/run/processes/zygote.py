"""``python -m eqfuzz.run.processes.zygote FD``: a warm process that forks a child for each case.

Importing torch and the first compile cost 4 to 6 CPU seconds; a child forked from here pays neither.
CPU only: CUDA does not survive a fork.
"""

from __future__ import annotations

import gc
import os
import sys
from typing import Any

from eqfuzz.run.processes.child import Request, run_request
from eqfuzz.run.processes.cpu_affinity import pin
from eqfuzz.run.processes.fork_server import ForkServer
from eqfuzz.run.processes.startup import receive_hello, report_start
from eqfuzz.run.protocol import Channel
from eqfuzz.run.sandbox.policy import SandboxPolicy
from eqfuzz.run.sandbox.supervisor import SandboxSupervisor


def main(descriptor: int) -> int:
    """Get ready, then serve until the parent goes. Returns the exit code."""
    channel = Channel.of(descriptor)
    hello = receive_hello(channel)
    keeper = SandboxSupervisor(SandboxPolicy(**hello.ward)) if hello.ward is not None else None
    target = report_start(channel, hello)
    if target is None:
        return 1

    def born(message: dict[str, Any], descriptors: list[int]) -> None:
        pin(message["core"])
        if keeper is not None:
            message["folder"] = keeper.confine(message["folder"], hello.memory_bytes)
        run_request(target, Request.of(message, descriptors), hello.memory_bytes)
        os._exit(0)

    # Collecting garbage in a child would touch, and so copy, every page that holds an object.
    gc.collect()
    gc.freeze()
    if keeper is not None:
        keeper.settle()
    ForkServer(channel, born, keeper).serve()
    return 0


if __name__ == "__main__":
    code = main(int(sys.argv[1]))
    # Without the interpreter's shutdown, which waits for threads that a library may have left.
    os._exit(code)
