"""``python -m eqfuzz.run.processes.zygote FD``: a warm process that forks a child for each job.

Importing torch and the first compile cost 4 to 6 CPU seconds; a child forked from here pays neither.
CPU only: CUDA does not survive a fork.
"""

from __future__ import annotations

import dataclasses
import gc
import os
import sys

from eqfuzz.run.messages.channel import Channel
from eqfuzz.run.messages.process_messages import ForkRequest
from eqfuzz.run.processes.child import Request, run_request
from eqfuzz.run.processes.cpu_affinity import pin
from eqfuzz.run.processes.fork_server import ForkServer
from eqfuzz.run.processes.startup import receive_hello, report_start
from eqfuzz.run.sandbox.supervisor import SandboxSupervisor


def main(descriptor: int) -> int:
    """Start, then serve until the parent ends. Returns the exit code."""
    channel = Channel.of(descriptor)
    hello = receive_hello(channel)
    supervisor = SandboxSupervisor(hello.policy) if hello.policy is not None else None
    target = report_start(channel, hello)
    if target is None:
        return 1

    def in_child(message: ForkRequest, descriptors: list[int]) -> None:
        pin(message.core)
        if supervisor is not None:
            message = dataclasses.replace(message, folder=supervisor.confine(message.folder, hello.memory_bytes))
        run_request(target, Request.of(message, descriptors), hello.memory_bytes)
        os._exit(0)

    # A garbage collection in a child would touch, and so copy, every page that holds an object.
    gc.collect()
    gc.freeze()
    if supervisor is not None:
        supervisor.settle()
    ForkServer(channel, in_child, supervisor).serve()
    return 0


if __name__ == "__main__":
    code = main(int(sys.argv[1]))
    # Skips the interpreter's shutdown, which waits for threads that a library may have left.
    os._exit(code)
