"""Processes that a case forks off itself: what is heard of them however they end."""

import faulthandler
import os
import signal
import time

import psutil
import pytest

from eqfuzz.run.processes.cell_process import GRACE, CellProcess


def follow(work):
    """All that is heard of a child that does ``work``, and the stages that were passed on."""
    stages = []
    before = set(psutil.Process().children())
    process = CellProcess(work)
    try:
        heard = [process.listen(stages.append)]
        while heard[-1]["event"] != "exit":
            heard.append(process.listen(stages.append))
    finally:
        process.close()
        process.close()
    assert set(psutil.Process().children()) <= before
    return heard, stages


def test_events_come_in_order_and_the_end_is_told() -> None:
    def work(emit, answer):
        emit({"event": "stage", "stage": "compile", "seconds": 5.0, "variant": 2})
        emit({"event": "told", "number": 1})
        emit({"event": "told", "number": 2})

    heard, stages = follow(work)
    assert [event.get("number") for event in heard] == [1, 2, None]
    assert (heard[-1]["reason"], heard[-1]["stage"]) == ("done", "compile")
    assert stages == [{"event": "stage", "stage": "compile", "seconds": 5.0 + GRACE, "variant": 2}]


def test_it_waits_for_an_answer_of_any_size() -> None:
    def work(emit, answer):
        emit({"event": "asked"})
        emit({"event": "heard", "size": len(answer()["text"])})

    process = CellProcess(work)
    try:
        assert process.listen(lambda event: None) == {"event": "asked"}
        process.answer({"text": "x" * 300_000})
        assert process.listen(lambda event: None) == {"event": "heard", "size": 300_000}
    finally:
        process.close()


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
def test_every_way_to_die_is_told(how, reason, words) -> None:
    def work(emit, answer):
        emit({"event": "stage", "stage": "compile", "seconds": 0.2})
        faulthandler.disable()
        how()

    (ended,), _ = follow(work)
    assert (ended["reason"], ended["stage"]) == (reason, "compile")
    assert words in ended["detail"]


def test_what_is_said_between_two_answers_does_not_cross_siblings() -> None:
    def named(name):
        def work(emit, answer):
            emit({"event": "asked", "of": name})
            emit({"event": "heard", "of": name, "what": answer()["what"]})

        return work

    processes = [CellProcess(named(name)) for name in "abc"]
    try:
        assert [process.listen(lambda event: None)["of"] for process in processes] == ["a", "b", "c"]
        for number, process in reversed(list(enumerate(processes))):
            process.answer({"what": number})
            assert process.listen(lambda event: None) == {"event": "heard", "of": "abc"[number], "what": number}
    finally:
        for process in processes:
            process.close()
