"""Fork server: forks a child per request, reports how each ended, and leaves no process of it behind."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Collection
from types import FrameType
from typing import NoReturn, Protocol

from eqfuzz.run.limits import forbid_core_dumps
from eqfuzz.run.messages.channel import Channel
from eqfuzz.run.messages.codec import Decoder, Message, encode
from eqfuzz.run.messages.process_messages import ChildEnded, ChildForked, ForkFailed, ForkRequest
from eqfuzz.run.processes.process_tree import adopt_orphans, children_of, die_with_parent, kill, kill_group
from eqfuzz.run.protocol import readable

CHILD_BROKEN = 70
"""Exit status of a child that failed before its job began; the traceback is in what it printed."""

_SECONDS_BETWEEN_CHECKS = 0.2
_SECONDS_TO_CLEAN_UP = 10.0

InChild = Callable[[ForkRequest, list[int]], None]
"""What a child does, with the request and its descriptors. The child ends when it returns."""


class ChildSupervisor(Protocol):
    """Watches children that are not trusted, given by their process ids."""

    def check(self, children: Collection[int]) -> str | None:
        """Why they must end now, if they must."""
        ...

    def end(self, children: Collection[int]) -> None:
        """Kill them, and all that they have started."""
        ...

    def clean(self) -> bool:
        """Remove what a child has left; False where this process must not fork another."""
        ...


class ForkServer:
    """Serves one channel. A request is a packet; its first descriptor takes messages about the child.

    They are ``ChildForked``, then ``ChildEnded``; or ``ForkFailed``. If it closes before that, this process is dead.
    """

    def __init__(self, channel: Channel, in_child: InChild, supervisor: ChildSupervisor | None = None) -> None:
        self._channel = channel
        self._requests = Decoder(ForkRequest)
        self._in_child = in_child
        self._fates: dict[int, int] = {}
        self._pid = os.getpid()
        self._parent = os.getppid()
        self._woken, self._wake = os.pipe()
        self._supervisor = supervisor
        self._why: str | None = None
        self._retired = False

    def serve(self) -> None:
        """Serve until the parent has ended, then kill all children. Does not return in a child."""
        adopt_orphans()
        os.set_blocking(self._wake, False)
        os.set_blocking(self._woken, False)
        signal.set_wakeup_fd(self._wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, _ignore)
        # Processes that the preload or a library has started; all others below this process come from children.
        self._helpers = children_of(self._pid)
        while os.getppid() == self._parent and not self._retired:
            supervised = self._supervisor is not None and bool(self._fates)
            ready = readable([self._channel.fileno(), self._woken], _SECONDS_BETWEEN_CHECKS if supervised else 1.0)
            if self._woken in ready:
                os.read(self._woken, 4096)
            self._reap()
            self._supervise()
            if self._channel.fileno() in ready:
                packet = self._channel.receive(self._requests)
                if packet is None:
                    break
                self._fork(*packet)
        self._end()

    def _fork(self, message: ForkRequest, descriptors: list[int]) -> None:
        fate = descriptors.pop(0)
        # Else the child would write them out too.
        sys.stdout.flush()
        sys.stderr.flush()
        try:
            pid = os.fork()
        except OSError as error:
            self._report(fate, ForkFailed(reason=f"cannot fork: {error}"))
            os.close(fate)
        else:
            if pid == 0:
                self._become_child(fate, message, descriptors)
            self._fates[pid] = fate
            self._report(fate, ChildForked(pid=pid))
        for descriptor in descriptors:
            os.close(descriptor)

    def _become_child(self, fate: int, message: ForkRequest, descriptors: list[int]) -> NoReturn:
        try:
            os.setsid()
            die_with_parent(self._pid)
            adopt_orphans()
            forbid_core_dumps()
            reset_signals()
            for descriptor in (fate, self._woken, self._wake, *self._fates.values()):
                os.close(descriptor)
            self._channel.close()
            self._in_child(message, descriptors)
        except BaseException:  # the child must end here, not return into the server's loop
            traceback.print_exc()
        os._exit(CHILD_BROKEN)

    def _reap(self) -> None:
        """Wait for children that have ended; kill what they leave: their group, and orphans that have left it."""
        while True:
            try:
                dead = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            except ChildProcessError:
                return
            if dead is not None:
                if dead.si_pid in self._fates:
                    # While it is a zombie no other process can have its number.
                    kill_group(dead.si_pid)
                    why = self._clean_up(dead.si_pid)
                else:
                    why = None
                _, status, usage = os.wait4(dead.si_pid, 0)
                fate = self._fates.pop(dead.si_pid, None)
                if fate is not None:
                    cpu_seconds = usage.ru_utime + usage.ru_stime
                    end = ChildEnded(status=status, cpu_seconds=cpu_seconds, why=why, retired=self._retired)
                    self._report(fate, end)
                    os.close(fate)
            for orphan in children_of(self._pid) - self._helpers - self._fates.keys():
                kill(orphan)
            if dead is None:
                return

    def _supervise(self) -> None:
        """Have the supervisor check the children, and end them if they break the policy."""
        if self._supervisor is None or not self._fates or self._why is not None:
            return
        self._why = self._supervisor.check(self._fates.keys())
        if self._why is not None:
            self._supervisor.end(self._fates.keys())

    def _clean_up(self, dead: int) -> str | None:
        """Leave nothing of an untrusted child that has ended. Returns why it had to end, if it was ended."""
        if self._supervisor is None:
            return None
        self._supervisor.end([dead])
        deadline = time.monotonic() + _SECONDS_TO_CLEAN_UP
        while children_of(self._pid) - {dead} - self._helpers and time.monotonic() < deadline:
            for orphan in children_of(self._pid) - {dead} - self._helpers:
                kill(orphan)
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(orphan, 0)
        why, self._why = self._why, None
        self._retired = self._retired or not self._supervisor.clean()
        return why

    def _report(self, fate: int, message: Message) -> None:
        try:
            os.write(fate, encode(message))
        except BrokenPipeError:
            # The parent's thread has given this child up and does not wait for its end.
            return

    def _end(self) -> None:
        deadline = time.monotonic() + 3.0
        while time.monotonic() < deadline:
            for pid in self._fates:
                kill_group(pid)
                kill(pid)
            self._reap()
            if not self._fates and not children_of(self._pid) - self._helpers:
                return
            time.sleep(0.01)


def _ignore(number: int, frame: FrameType | None) -> None:
    """A handler is needed for the wake-up descriptor to be written to."""


def reset_signals() -> None:
    """Signal handling as in a program that Python has just started."""
    signal.set_wakeup_fd(-1)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    for number in (signal.SIGCHLD, signal.SIGALRM, signal.SIGTERM, signal.SIGHUP, signal.SIGXCPU):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
