"""Processes that a child forks for cells: their events arrive however they end."""

from __future__ import annotations

import contextlib
import dataclasses
import faulthandler
import os
import signal
import time
from typing import Literal

import psutil
import pytest

from eqfuzz.run.messages.cell_messages import CellProcessExit
from eqfuzz.run.messages.codec import Decoder, Message
from eqfuzz.run.messages.job import ChildEvent, StageEntered
from eqfuzz.run.processes.cell_process import GRACE, CellProcess


@dataclasses.dataclass(frozen=True, kw_only=True)
class Said(ChildEvent):
    event: Literal["said"] = "said"
    number: int = 0
    name: str = ""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Reply(Message):
    event: Literal["reply"] = "reply"
    text: str


def started(work):
    return CellProcess(work, (Said,), Decoder(Reply))


def ignore(event):
    pass


def follow(work):
    """All events of a process that runs ``work``, and the stages that were announced."""
    stages = []
    before = set(psutil.Process().children())
    with contextlib.closing(started(work)) as process:
        events = [process.listen(stages.append)]
        while not isinstance(events[-1], CellProcessExit):
            events.append(process.listen(stages.append))
    process.close()  # again, which does nothing
    assert set(psutil.Process().children()) <= before
    return events, stages


def test_exception_with_notes_is_an_error() -> None:
    def work(emit, next_reply):
        error = ValueError("no verdict")
        error.add_note("the traceback of another process\n")
        raise error

    events, _ = follow(work)
    assert (events[-1].reason, events[-1].detail) == ("error", "ValueError: no verdict")


def test_events_come_in_order_and_the_end_is_reported() -> None:
    def work(emit, next_reply):
        emit(StageEntered(stage="compile", seconds=5.0, variant=2))
        emit(Said(number=1))
        emit(Said(number=2))

    events, stages = follow(work)
    assert events[:-1] == [Said(number=1), Said(number=2)]
    assert (events[-1].reason, events[-1].stage) == ("done", "compile")
    assert stages == [StageEntered(stage="compile", seconds=5.0 + GRACE, variant=2)]


def test_process_waits_for_a_reply_of_any_size() -> None:
    def work(emit, next_reply):
        emit(Said())
        emit(Said(number=len(next_reply().text)))

    with contextlib.closing(started(work)) as process:
        assert process.listen(ignore) == Said()
        process.reply(Reply(text="x" * 300_000))
        assert process.listen(ignore) == Said(number=300_000)


@pytest.mark.parametrize(
    ("how", "reason", "words"),
    [
        (lambda: os.kill(os.getpid(), signal.SIGSEGV), "crash", "SIGSEGV"),
        (lambda: os._exit(3), "crash", "exited with code 3"),
        (lambda: os.kill(os.getpid(), signal.SIGKILL), "memory", "SIGKILL"),
        (lambda: time.sleep(60), "hang", "no end of stage compile after 0.2 seconds"),
        (lambda: 1 / 0, "error", "ZeroDivisionError"),
    ],
)
def test_every_exit_reason_is_reported(how, reason, words) -> None:
    def work(emit, next_reply):
        emit(StageEntered(stage="compile", seconds=0.2))
        faulthandler.disable()
        how()

    (ended,), _ = follow(work)
    assert (ended.reason, ended.stage) == (reason, "compile")
    assert words in ended.detail


def test_replies_reach_their_own_process() -> None:
    def named(name):
        def work(emit, next_reply):
            emit(Said(name=name))
            emit(Said(name=name + next_reply().text))

        return work

    with contextlib.ExitStack() as stack:
        processes = [stack.enter_context(contextlib.closing(started(named(name)))) for name in "abc"]
        assert [process.listen(ignore).name for process in processes] == ["a", "b", "c"]
        for number, process in reversed(list(enumerate(processes))):
            process.reply(Reply(text=str(number)))
            assert process.listen(ignore) == Said(name=f"{'abc'[number]}{number}")
