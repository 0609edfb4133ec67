"""A process that a case forks off itself: it talks in JSON lines, keeps to its stages' limits, and may die."""

from __future__ import annotations

import json
import os
import signal
import time
import traceback
from collections import deque
from collections.abc import Callable
from typing import Any, NoReturn

from eqfuzz.run.processes.child import Emitter, flush_output, raise_descriptor
from eqfuzz.run.processes.process_tree import children_of, die_with_parent, kill, kill_family
from eqfuzz.run.protocol import EXIT, FINISHED, BadEvent, Event, Lines, describe_status, readable

Emit = Callable[[Event], None]
Answer = Callable[[], dict[str, Any]]
"""Wait for the parent's answer."""

GRACE = 15.0
"""Wall seconds that whoever watches the parent gives beyond a limit: the parent sees to its children itself."""

_FIRST = 60.0
_TO_SAY_WHERE = 0.5

_living: set[int] = set()


class CellProcess:
    """A fork of this process that does ``work(emit, answer)``.

    It stays in this process's group, so that whoever ends the one ends the other. ``close`` must be called.
    """

    def __init__(self, work: Callable[[Emit, Answer], None]) -> None:
        flush_output()
        self._others = children_of(os.getpid()) - _living
        events, theirs = os.pipe()
        receiving, self._answers = os.pipe()
        parent = os.getpid()
        self._pid = os.fork()
        if self._pid == 0:
            os.close(events)
            os.close(self._answers)
            _live(work, parent, theirs, receiving)
        _living.add(self._pid)
        os.close(theirs)
        os.close(receiving)
        self._events = events
        self._pipes: tuple[int, ...] = (events, self._answers)
        self._lines = Lines()
        self._queue: deque[Event] = deque()
        self._stage = "start"
        self._seconds = _FIRST
        self._born = time.monotonic()

    def listen(self, announce: Emit) -> Event:
        """Its next event that is no stage; stages are passed on to ``announce``.

        ``exit`` is the last, with ``stage``, ``reason``, ``detail`` and wall ``seconds``; reason ``done`` when it
        came through, ``error`` with ``traceback`` when its work raised.
        """
        deadline = time.monotonic() + self._seconds
        while True:
            while self._queue:
                event = self._queue.popleft()
                if event["event"] == "stage":
                    self._stage, self._seconds = event["stage"], float(event["seconds"])
                    deadline = time.monotonic() + self._seconds
                    announce({**event, "seconds": self._seconds + GRACE})
                elif event["event"] == FINISHED:
                    self._reap()
                    error = event.get("error")
                    return self._exit("error" if error else "done", str(error or ""), event.get("traceback"))
                else:
                    return event
            if time.monotonic() > deadline:
                return self._late()
            if not readable([self._events], min(1.0, max(0.0, deadline - time.monotonic()))):
                continue
            data = os.read(self._events, 2**16)
            if not data:
                return self._exit(*describe_status(self._reap()))
            try:
                self._queue.extend(self._lines.feed(data))
            except BadEvent as bad:
                self._kill()
                return self._exit("error", f"on the pipe of a cell: {bad}")

    def answer(self, message: dict[str, Any]) -> None:
        """What it waits for."""
        text = json.dumps(message).encode() + b"\n"
        view = memoryview(text)
        try:
            while view:
                view = view[os.write(self._answers, view) :]
        except BrokenPipeError:
            return  # it has died meanwhile, which ``listen`` tells

    def close(self) -> None:
        """End it, with all that it has started."""
        if self._pid in _living:
            self._kill()
        for end in self._pipes:
            os.close(end)
        self._pipes = ()

    def _late(self) -> Event:
        os.kill(self._pid, signal.SIGXCPU)  # it writes down where it is
        time.sleep(_TO_SAY_WHERE)
        self._kill()
        return self._exit("hang", f"no end of stage {self._stage} after {self._seconds:g} seconds")

    def _kill(self) -> None:
        kill_family(self._pid)
        self._reap()

    def _reap(self) -> int:
        """Wait for its end, and end what it leaves behind. Returns its wait status."""
        _, status = os.waitpid(self._pid, 0)
        _living.discard(self._pid)
        for orphan in children_of(os.getpid()) - self._others - _living:
            kill(orphan)
            os.waitpid(orphan, 0)
        return status

    def _exit(self, reason: str, detail: str, trace: str | None = None) -> Event:
        seconds = time.monotonic() - self._born
        told = {"reason": reason, "detail": detail, "traceback": trace, "seconds": seconds}
        return {"event": EXIT, "stage": self._stage, **told}


def _live(work: Callable[[Emit, Answer], None], parent: int, events: int, receiving: int) -> NoReturn:
    """What the forked process does until its end."""
    try:
        die_with_parent(parent)
        emit = Emitter(raise_descriptor(events))
        stream = os.fdopen(raise_descriptor(receiving), "rb")
        error = detail = None
        try:
            work(emit, lambda: json.loads(stream.readline()))
        except BaseException as raised:  # the parent is told, whatever it was
            error = "".join(traceback.format_exception_only(raised)[-1:])
            detail = traceback.format_exc()
        flush_output()
        emit.finish(error, detail)
    except BaseException:  # it must end here, not return into the parent's work
        traceback.print_exc()
        flush_output()
    os._exit(0)
