"""``python -m eqfuzz.run.processes.worker FD``: a process that forks workers, each of which runs many jobs.

The process itself stays small and never imports torch, so its children may use CUDA. It exists so that workers are
watched, reaped and killed like the children of a zygote.
"""

from __future__ import annotations

import os
import sys

from eqfuzz.run.limits import used_cpu_seconds
from eqfuzz.run.messages.channel import Channel
from eqfuzz.run.messages.codec import Decoder
from eqfuzz.run.messages.process_messages import ForkRequest, ProcessReady, StartupMessage, WorkerIdle, WorkerRetired
from eqfuzz.run.processes.child import Request, raise_descriptor, run_request
from eqfuzz.run.processes.fork_server import ForkServer
from eqfuzz.run.processes.process_snapshot import Snapshot
from eqfuzz.run.processes.startup import receive_hello, report_start


def main(descriptor: int) -> int:
    """Serve until the parent goes. Returns the exit code."""
    channel = Channel.of(descriptor)
    hello = receive_hello(channel)
    channel.send(ProcessReady())

    def in_child(_: ForkRequest, descriptors: list[int]) -> None:
        work(Channel.of(raise_descriptor(descriptors[0])), hello)
        os._exit(0)

    ForkServer(channel, in_child).serve()
    return 0


def work(channel: Channel, hello: StartupMessage) -> None:
    """Start, then run the jobs that come, until the channel closes or a job leaves lasting damage.

    After each job the parent gets ``WorkerIdle``, or ``WorkerRetired`` if this process must be replaced.
    """
    target = report_start(channel, hello)
    if target is None:
        return
    snapshot = Snapshot.take()
    requests = Decoder(ForkRequest)
    while (packet := channel.receive(requests)) is not None:
        run_request(target, Request.of(*packet), hello.memory_bytes)
        damage = snapshot.put_back()
        if damage:
            channel.send(WorkerRetired(detail=damage))
            return
        channel.send(WorkerIdle(cpu_total=used_cpu_seconds()))


if __name__ == "__main__":
    code = main(int(sys.argv[1]))
    os._exit(code)
