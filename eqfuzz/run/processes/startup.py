"""The start of a process, before its first job: import torch and the target, run the preload, compile once."""

from __future__ import annotations

import importlib
import operator
import os
import signal
import sys
from pathlib import Path

from eqfuzz.run.limits import used_cpu_seconds
from eqfuzz.run.messages.channel import Channel
from eqfuzz.run.messages.codec import Decoder
from eqfuzz.run.messages.job import JobTarget
from eqfuzz.run.messages.process_messages import ProcessReady, StartFailed, StartupMessage
from eqfuzz.run.preload import blame, execute_preload

IMPRECISE_ON_CUDA = (
    "torch.backends.cudnn.allow_tf32",
    "torch.backends.cuda.matmul.allow_tf32",
    "torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction",
    "torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction",
)
"""Settings that are off where eqfuzz uses CUDA: the precision that they cost eager depends on the kernel."""


def receive_hello(channel: Channel) -> StartupMessage:
    """Read the first packet; adopt its import path and its folder. Raises ``EOFError`` if the parent has ended."""
    packet = channel.receive(Decoder(StartupMessage))
    if packet is None:
        raise EOFError("the parent has ended")
    hello, _ = packet
    sys.path[:] = hello.path
    os.chdir(hello.folder)
    return hello


def prepare(hello: StartupMessage) -> JobTarget:
    """Import torch and the target, run the preload; if warm, compile once. Anything may be raised."""
    import torch

    from eqfuzz.torch_internals.autograd import start_autograd_engine
    from eqfuzz.torch_internals.inductor import import_compiler

    torch.set_num_threads(1)
    if not hello.cuda:
        start_autograd_engine()
    if hello.cuda:
        for setting in IMPRECISE_ON_CUDA:
            holder, _, name = setting.rpartition(".")
            setattr(operator.attrgetter(holder.removeprefix("torch."))(torch), name, False)
    if hello.preload is not None:
        execute_preload(Path(hello.preload))
    if hello.warm:
        import_compiler()
    target = resolve(hello.target)
    if hello.warm:
        from eqfuzz.run.processes.warm_up import warm_up
        from eqfuzz.torch_internals.cpp_kernels import write_builds_atomically

        write_builds_atomically()
        warm_up(hello.cuda, changed=hello.preload is not None)
    return target


def resolve(name: str) -> JobTarget:
    """The target called ``module:attribute``. Raises ``ImportError``, ``AttributeError`` or ``TypeError``."""
    module, _, attribute = name.partition(":")
    target: object = getattr(importlib.import_module(module), attribute)
    if isinstance(target, JobTarget):
        return target
    raise TypeError(f"{name} is a {type(target).__name__}, not a JobTarget")


def report_start(channel: Channel, hello: StartupMessage) -> JobTarget | None:
    """``prepare``, and report the outcome to the parent. None when it failed."""
    with ParentMonitor(channel):
        try:
            target = prepare(hello)
        except BaseException as error:  # whatever it is, the parent raises it as RunnerFailed
            message = blame(error, Path(hello.preload) if hello.preload else None)
            channel.send(StartFailed(message=message))
            return None
    channel.send(ProcessReady(cpu_total=used_cpu_seconds()))
    return target


class ParentMonitor:
    """Context that kills this process's group as soon as the other end of ``channel`` is closed.

    It looks twice a second: a start takes long enough for the parent to die meanwhile, and no one reads the channel
    then. The parent may also have died before its first packet was read, so ``getppid`` does not help. Nor does the
    kernel's parent-death signal: it fires when the *thread* that started this process ends.
    """

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    def __enter__(self) -> None:
        self._look()
        signal.signal(signal.SIGALRM, self._look)
        signal.setitimer(signal.ITIMER_REAL, 0.5, 0.5)

    def __exit__(self, *_: object) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)

    def _look(self, *_: object) -> None:
        if self._channel.is_abandoned():
            os.killpg(0, signal.SIGKILL)
