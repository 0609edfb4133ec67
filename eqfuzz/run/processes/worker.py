"""``python -m eqfuzz.run.processes.worker FD``: a process that forks workers, each of which runs many cases.

The process itself stays small and never imports torch, so its children may use CUDA; it is there so that
workers are watched, reaped and killed in the same way as the children of a zygote.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from eqfuzz.run.limits import used_cpu_seconds
from eqfuzz.run.processes.child import Request, raise_descriptor, run_request
from eqfuzz.run.processes.fork_server import ForkServer
from eqfuzz.run.processes.process_snapshot import Snapshot
from eqfuzz.run.processes.startup import StartupMessage, receive_hello, report_start
from eqfuzz.run.protocol import Channel


def main(descriptor: int) -> int:
    """Serve until the parent goes. Returns the exit code."""
    channel = Channel.of(descriptor)
    hello = receive_hello(channel)
    channel.send({"event": "ready"})

    def born(_: dict[str, Any], descriptors: list[int]) -> None:
        work(Channel.of(raise_descriptor(descriptors[0])), hello)
        os._exit(0)

    ForkServer(channel, born).serve()
    return 0


def work(channel: Channel, hello: StartupMessage) -> None:
    """Get ready, then run the cases that come, until the channel closes or a case leaves lasting damage.

    After each case the parent hears ``idle``, or ``retire`` with the reason why this process must be replaced.
    """
    target = report_start(channel, hello)
    if target is None:
        return
    snapshot = Snapshot.take()
    while (packet := channel.receive()) is not None:
        run_request(target, Request.of(*packet), hello.memory_bytes)
        damage = snapshot.put_back()
        if damage:
            channel.send({"event": "retire", "detail": damage})
            return
        channel.send({"event": "idle", "cpu_total": used_cpu_seconds()})


if __name__ == "__main__":
    code = main(int(sys.argv[1]))
    os._exit(code)
