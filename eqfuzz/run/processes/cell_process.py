"""A process that a child forks for a cell: it sends events, keeps the time limits of its stages, and may die."""

from __future__ import annotations

import dataclasses
import os
import signal
import time
import traceback
from collections import deque
from collections.abc import Callable
from typing import Generic, NoReturn

from eqfuzz.errors import error_line
from eqfuzz.run.messages.cell_messages import CellProcessExit
from eqfuzz.run.messages.codec import Decoder, M, MessageLines, decoder_of, encode
from eqfuzz.run.messages.job import ChildEvent, ChildFinished, Emit, Reason, StageEntered
from eqfuzz.run.processes.child import Emitter, flush_output, raise_descriptor
from eqfuzz.run.processes.process_tree import children_of, die_with_parent, kill, kill_family
from eqfuzz.run.processes.stage_deadline import StageDeadline
from eqfuzz.run.protocol import BadMessage, describe_status, readable

GRACE = 15.0
"""Wall seconds that the parent gets beyond a limit of its own processes: it enforces that itself."""

_FIRST = 60.0
_SECONDS_FOR_STACK = 0.5

_living: set[int] = set()


class CellProcess(Generic[M]):
    """A fork of this process that runs ``work(emit, next_reply)``; ``replies`` decodes what ``reply`` sends it.

    It sends events of the given ``kinds``. It stays in this process's group, so that both are ended together. ``close``
    must be called.
    """

    def __init__(
        self,
        work: Callable[[Emit, Callable[[], M]], None],
        kinds: tuple[type[ChildEvent], ...],
        replies: Decoder[M],
    ) -> None:
        flush_output()
        self._others = children_of(os.getpid()) - _living
        events, theirs = os.pipe()
        receiving, self._replies = os.pipe()
        parent = os.getpid()
        self._pid = os.fork()
        if self._pid == 0:
            os.close(events)
            os.close(self._replies)
            _run(work, replies, parent, theirs, receiving)
        _living.add(self._pid)
        os.close(theirs)
        os.close(receiving)
        self._events = events
        self._pipes: tuple[int, ...] = (events, self._replies)
        self._lines = MessageLines(decoder_of(StageEntered, ChildFinished, *kinds))
        self._queue: deque[ChildEvent] = deque()
        self._stage = "start"
        self._deadline = StageDeadline(_FIRST, self._pid)
        self._started = time.monotonic()

    def listen(self, announce: Emit) -> ChildEvent:
        """Its next event that is no stage; stages are passed to ``announce``.

        The last is ``CellProcessExit``: with reason ``done`` when its work returned, ``error`` with ``traceback`` when
        it raised.
        """
        self._deadline.enter(self._deadline.seconds)
        while True:
            while self._queue:
                event = self._queue.popleft()
                if isinstance(event, StageEntered):
                    self._stage = event.stage
                    self._deadline.enter(event.seconds)
                    announce(dataclasses.replace(event, seconds=event.seconds + GRACE))
                elif isinstance(event, ChildFinished):
                    self._reap()
                    return self._exit("error" if event.error else "done", event.error or "", event.traceback)
                else:
                    return event
            if self._deadline.has_passed():
                return self._time_out()
            if not readable([self._events], min(1.0, self._deadline.left())):
                continue
            data = os.read(self._events, 2**16)
            if not data:
                return self._exit(*describe_status(self._reap()))
            try:
                self._queue.extend(self._lines.feed(data))
            except BadMessage as bad:
                self._kill()
                return self._exit("error", f"on the pipe of a cell: {bad}")

    def reply(self, message: M) -> None:
        """Send it what it waits for."""
        view = memoryview(encode(message))
        try:
            while view:
                view = view[os.write(self._replies, view) :]
        except BrokenPipeError:
            return  # it has died meanwhile, which ``listen`` reports

    @property
    def seconds(self) -> float:
        """The wall seconds that its stage has, counted anew by ``listen``."""
        return self._deadline.seconds

    def shorten(self, seconds: float) -> None:
        """Allow its stage no more than these."""
        self._deadline.seconds = min(self._deadline.seconds, seconds)

    def close(self) -> None:
        """End it, with all that it has started."""
        if self._pid in _living:
            self._kill()
        for end in self._pipes:
            os.close(end)
        self._pipes = ()

    def _time_out(self) -> CellProcessExit:
        os.kill(self._pid, signal.SIGXCPU)  # it writes its stack
        time.sleep(_SECONDS_FOR_STACK)
        self._kill()
        return self._exit("hang", f"no end of stage {self._stage} after {self._deadline.seconds:g} seconds")

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

    def _exit(self, reason: Reason, detail: str, trace: str | None = None) -> CellProcessExit:
        seconds = time.monotonic() - self._started
        return CellProcessExit(stage=self._stage, reason=reason, detail=detail, traceback=trace, seconds=seconds)


def _run(
    work: Callable[[Emit, Callable[[], M]], None], replies: Decoder[M], parent: int, events: int, receiving: int
) -> NoReturn:
    """Run ``work`` in the forked process and end it."""
    try:
        die_with_parent(parent)
        emit = Emitter(raise_descriptor(events))
        stream = os.fdopen(raise_descriptor(receiving), "rb")
        error = detail = None
        try:
            work(emit, lambda: replies.decode(stream.readline()))
        except BaseException as raised:  # whatever it is, the parent gets it
            error = error_line(raised)
            detail = traceback.format_exc()
        flush_output()
        emit.finish(error, detail)
    except BaseException:  # it must end here, not return into the parent's work
        traceback.print_exc()
        flush_output()
    os._exit(0)
