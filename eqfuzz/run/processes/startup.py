"""What a process does once, before its first case: import, preload, compile something tiny."""

from __future__ import annotations

import dataclasses
import importlib
import operator
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from eqfuzz.run.limits import used_cpu_seconds
from eqfuzz.run.preload import blame, execute_preload
from eqfuzz.run.protocol import Channel, Event

IMPRECISE_ON_CUDA = (
    "torch.backends.cudnn.allow_tf32",
    "torch.backends.cuda.matmul.allow_tf32",
    "torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction",
    "torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction",
)
"""Settings that are off where eqfuzz uses CUDA: what they let eager lose differs with the kernel that runs."""

Target = Callable[[dict[str, Any], Callable[[Event], None]], object]


@dataclasses.dataclass(frozen=True)
class StartupMessage:
    """What the parent tells a new process: the first packet on its channel.

    ``path`` is the parent's ``sys.path``; ``target`` is ``module:function``; ``memory_bytes`` is None where
    address space must not be limited (CUDA reserves terabytes of it); ``warm`` says whether to compile something at
    the start; ``ward`` holds the fields of the ``Ward`` whose cases the process attends to, in a sandbox.
    """

    target: str
    path: list[str]
    folder: str
    preload: str | None
    memory_bytes: int | None
    cuda: bool
    warm: bool = True
    ward: dict[str, Any] | None = None


def receive_hello(channel: Channel) -> StartupMessage:
    """Read it, and take over the parent's import path and the folder to be in. Raises ``EOFError``."""
    packet = channel.receive()
    if packet is None:
        raise EOFError("the parent is gone")
    hello = StartupMessage(**packet[0])
    sys.path[:] = hello.path
    os.chdir(hello.folder)
    return hello


def prepare(hello: StartupMessage) -> Target:
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
        from eqfuzz.torch_internals.cpp_kernels import put_builds_in_place_whole

        put_builds_in_place_whole()
        warm_up(hello.cuda, changed=hello.preload is not None)
    return target


def resolve(name: str) -> Target:
    """The function called ``module:function``. Raises ``ImportError``, ``AttributeError`` or ``TypeError``."""
    module, _, function = name.partition(":")
    target: Any = getattr(importlib.import_module(module), function)
    if callable(target):
        return target
    raise TypeError(f"{name} is a {type(target).__name__}, not a function")


def report_start(channel: Channel, hello: StartupMessage) -> Target | None:
    """``prepare``, with the outcome told to the parent. None when it failed."""
    with ParentMonitor(channel):
        try:
            target = prepare(hello)
        except BaseException as error:  # whatever it is, the parent raises it as RunnerFailed
            message = blame(error, Path(hello.preload) if hello.preload else None)
            channel.send({"event": "failed", "message": message})
            return None
    channel.send({"event": "ready", "cpu_total": used_cpu_seconds()})
    return target


class ParentMonitor:
    """While inside, look twice a second whether anybody is at the other end of ``channel``; if not, kill the own group.

    Starting takes long enough for the parent to die meanwhile, and nobody reads the channel then. It may have died
    before, with its hello still to be read, so that the process that is the parent now tells nothing. The kernel's
    parent-death signal is no help: it fires when the *thread* that made this process ends.
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
