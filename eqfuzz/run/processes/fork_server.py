"""A process that forks children on request, and sees to it that none of them outlives its welcome."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Collection
from typing import Any, NoReturn, Protocol

from eqfuzz.run.limits import forbid_core_dumps
from eqfuzz.run.processes.process_tree import adopt_orphans, children_of, die_with_parent, kill, kill_group
from eqfuzz.run.protocol import Channel, readable

# Exit status of a child whose own preparations failed; the traceback is in what it printed.
CHILD_BROKEN = 70

_LOOKS = 0.2
_PATIENCE_TO_BURY = 10.0

Born = Callable[[dict[str, Any], list[int]], None]


class CaseSupervisor(Protocol):
    """Attends to cases that are not trusted; their process ids are those of this process's children."""

    def look(self, cases: Collection[int]) -> str | None:
        """Why they must end now, if they must."""
        ...

    def end(self, cases: Collection[int]) -> None:
        """Kill them, and all that they have started."""
        ...

    def clean(self) -> bool:
        """Remove what a case has left; False where this process must not fork another."""
        ...


class ForkServer:
    """Serves one channel. A request is a packet; its first descriptor takes the child's fate, as JSON lines.

    The lines: ``{"pid": n}``, then ``{"status": wait status, "cpu_seconds": x, "why": the keeper's reason, "retired":
    whether this process forks no more}``, or ``{"failed": why}`` where the fork itself failed. Its closing without a
    status means that this process is dead.
    """

    def __init__(self, channel: Channel, born: Born, keeper: CaseSupervisor | None = None) -> None:
        self._channel = channel
        self._born = born
        self._fates: dict[int, int] = {}
        self._pid = os.getpid()
        self._parent = os.getppid()
        self._woken, self._wake = os.pipe()
        self._keeper = keeper
        self._why: str | None = None
        self._retired = False

    def serve(self) -> None:
        """Until the parent is gone. Then kill all children. Does not return in a child."""
        adopt_orphans()
        os.set_blocking(self._wake, False)
        os.set_blocking(self._woken, False)
        signal.set_wakeup_fd(self._wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        # Helpers that the preload or a library has started; everybody else under this process came from a case.
        self._helpers = children_of(self._pid)
        while os.getppid() == self._parent and not self._retired:
            attended = self._keeper is not None and bool(self._fates)
            ready = readable([self._channel.fileno(), self._woken], _LOOKS if attended else 1.0)
            if self._woken in ready:
                os.read(self._woken, 4096)
            self._reap()
            self._attend()
            if self._channel.fileno() in ready:
                packet = self._channel.receive()
                if packet is None:
                    break
                self._fork(*packet)
        self._end()

    def _fork(self, message: dict[str, Any], descriptors: list[int]) -> None:
        fate = descriptors.pop(0)
        # Else the child would write them out too.
        sys.stdout.flush()
        sys.stderr.flush()
        try:
            pid = os.fork()
        except OSError as error:
            self._tell(fate, {"failed": f"cannot fork: {error}"})
            os.close(fate)
        else:
            if pid == 0:
                self._become_child(fate, message, descriptors)
            self._fates[pid] = fate
            self._tell(fate, {"pid": pid})
        for descriptor in descriptors:
            os.close(descriptor)

    def _become_child(self, fate: int, message: dict[str, Any], descriptors: list[int]) -> NoReturn:
        try:
            os.setsid()
            die_with_parent(self._pid)
            adopt_orphans()
            forbid_core_dumps()
            reset_signals()
            for descriptor in (fate, self._woken, self._wake, *self._fates.values()):
                os.close(descriptor)
            self._channel.close()
            self._born(message, descriptors)
        except BaseException:  # the child must end here, not return into the server's loop
            traceback.print_exc()
        os._exit(CHILD_BROKEN)

    def _reap(self) -> None:
        """Collect the dead, and kill what they leave behind: their group, and orphans that have left it."""
        while True:
            try:
                dead = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            except ChildProcessError:
                return
            if dead is not None:
                if dead.si_pid in self._fates:
                    # While it is a zombie nobody else can have its number.
                    kill_group(dead.si_pid)
                    why = self._clean_up(dead.si_pid)
                else:
                    why = None
                _, status, usage = os.wait4(dead.si_pid, 0)
                fate = self._fates.pop(dead.si_pid, None)
                if fate is not None:
                    cpu_seconds = usage.ru_utime + usage.ru_stime
                    told = {"status": status, "cpu_seconds": cpu_seconds, "why": why, "retired": self._retired}
                    self._tell(fate, told)
                    os.close(fate)
            for orphan in children_of(self._pid) - self._helpers - self._fates.keys():
                kill(orphan)
            if dead is None:
                return

    def _attend(self) -> None:
        """Have the keeper look at the cases, and end them where it must be."""
        if self._keeper is None or not self._fates or self._why is not None:
            return
        self._why = self._keeper.look(self._fates.keys())
        if self._why is not None:
            self._keeper.end(self._fates.keys())

    def _clean_up(self, dead: int) -> str | None:
        """Leave nothing of a case that is not trusted, and which has ended. Returns why it had to."""
        if self._keeper is None:
            return None
        self._keeper.end([dead])
        patience = time.monotonic() + _PATIENCE_TO_BURY
        while children_of(self._pid) - {dead} - self._helpers and time.monotonic() < patience:
            for orphan in children_of(self._pid) - {dead} - self._helpers:
                kill(orphan)
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(orphan, 0)
        why, self._why = self._why, None
        self._retired = self._retired or not self._keeper.clean()
        return why

    def _tell(self, fate: int, line: dict[str, Any]) -> None:
        try:
            os.write(fate, json.dumps(line).encode() + b"\n")
        except BrokenPipeError:
            # The parent's thread has given this child up: nobody is waiting to hear how it ended.
            return

    def _end(self) -> None:
        patience = time.monotonic() + 3.0
        while time.monotonic() < patience:
            for pid in self._fates:
                kill_group(pid)
                kill(pid)
            self._reap()
            if not self._fates and not children_of(self._pid) - self._helpers:
                return
            time.sleep(0.01)


def reset_signals() -> None:
    """Signal handling as in a program that Python has just started."""
    signal.set_wakeup_fd(-1)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    for number in (signal.SIGCHLD, signal.SIGALRM, signal.SIGTERM, signal.SIGHUP, signal.SIGXCPU):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
