"""Ctrl-C, SIGTERM, a locked database: a campaign ends or waits as documented, and resumes without loss."""

from __future__ import annotations

import contextlib
import signal
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.robustness.campaigns import (
    PRETENDED,
    Kept,
    Pretending,
    Running,
    assert_same,
    configured,
    left_of,
    stored_state,
    undamaged,
)

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]

Like = Callable[[Kept], Kept]


def signalled(out: Path, *numbers: signal.Signals, seconds: float) -> tuple[dict[str, Any], list[str]]:
    """The summary of a pretended campaign that gets signals while it does its fourth item, and events from there on."""
    running = Pretending(out, "--seconds", seconds, "--slow-from", 4)
    running.wait_for("item", 4)
    for count, number in enumerate(numbers):
        running.process.send_signal(number)
        if count == 0:
            running.wait_for("stopping", 1)
    running.ended()
    names = [event["event"] for event in running.events()]
    return running.events()[-1], names[names.index("stopping") :]


@pytest.mark.parametrize("number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.long)])
def test_one_signal_completes_items_in_flight_and_stops(
    tmp_path: Path, undisturbed_like: Like, number: signal.Signals
) -> None:
    summary, events = signalled(tmp_path, number, seconds=1.5)
    assert summary["interrupted"]
    assert summary["why"] == "interrupt"
    assert summary["errors"] == []
    # Whether the item in flight has a finding depends on when the signal comes.
    assert [event for event in events if event != "finding"] == ["stopping", "stored", "summary"]
    Pretending(tmp_path).ended()
    goes_on = stored_state(tmp_path, PRETENDED)
    assert_same(goes_on, undisturbed_like(goes_on))


def test_two_signals_stop_at_once(tmp_path: Path, undisturbed_like: Like) -> None:
    began = time.monotonic()
    summary, events = signalled(tmp_path, signal.SIGINT, signal.SIGINT, seconds=600)
    assert time.monotonic() - began < 600
    assert summary["interrupted"]
    assert summary["errors"] == []
    assert events == ["stopping", "summary"]
    Pretending(tmp_path).ended()
    goes_on = stored_state(tmp_path, PRETENDED)
    assert_same(goes_on, undisturbed_like(goes_on))


@contextlib.contextmanager
def locked(database: Path) -> Iterator[None]:
    """Another process writes all the time."""
    other = sqlite3.connect(database, timeout=60, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    yield
    other.rollback()
    other.close()


def test_campaign_waits_for_a_locked_database(tmp_path: Path, undisturbed_like: Like) -> None:
    running = Pretending(tmp_path, "--seconds", 0.05, "--patience", 0.2)
    running.wait_for("stored", 3)
    with locked(tmp_path / "campaigns.db"):
        running.wait_for("waiting", 2)
    waited = running.ended()["waited"]
    assert waited[0] == "database locked"
    assert waited[-1] == ""
    whole = stored_state(tmp_path, PRETENDED)
    assert_same(whole, undisturbed_like(whole))


@pytest.mark.long
def test_second_signal_ends_a_campaign_that_waits_for_its_database(tmp_path: Path) -> None:
    running = Pretending(tmp_path, "--patience", 0.2, "--seconds", 0.05)
    running.wait_for("stored", 3)
    with locked(tmp_path / "campaigns.db"):
        running.wait_for("waiting", 2)
        running.process.send_signal(signal.SIGTERM)
        running.wait_for("stopping", 1)
        running.process.send_signal(signal.SIGTERM)
        running.process.communicate(timeout=300)
        assert running.events()[-1]["event"] == "summary"
    assert undamaged(tmp_path, PRETENDED) == []


@pytest.mark.long
def test_processes_started_at_once_share_a_new_store(tmp_path: Path, undisturbed_like: Like) -> None:
    for running in [Pretending(tmp_path, "--seconds", 0.02) for _ in range(3)]:
        running.ended()
    performed = (tmp_path / PRETENDED / "performed").read_text().split()
    assert len(performed) == len(set(performed))
    shared = stored_state(tmp_path, PRETENDED)
    assert_same(shared, undisturbed_like(shared), timing=True)


@pytest.mark.long
def test_interrupted_command_resumes_with_the_results_of_an_undisturbed_run(tmp_path: Path) -> None:
    file, out = configured(tmp_path, cells=8), tmp_path / "out"
    undisturbed = Running(tmp_path / "undisturbed", "night", "--file", file)
    assert undisturbed.ended(1500) == 1, undisturbed.errors

    at_start = Running(out, "night", "--file", file)
    time.sleep(1.0)
    at_start.signal(signal.SIGINT)
    assert at_start.ended(300) == 130

    once = Running(out, "night", "--file", file)
    assert once.wait_for(lambda event: event["event"] == "rewritten", 1500)
    once.signal(signal.SIGINT)
    assert once.ended(900) == 130, once.errors
    assert once.errors.splitlines() == ["eqfuzz: interrupted"]
    names = [event["event"] for event in once.events()]
    assert names[-1] == "summary"
    assert names.index("stopping") < names.index("stored") < len(names) - 1

    twice = Running(out, "night", "--file", file)
    assert twice.wait_for(lambda event: event["event"] == "rewritten", 1500)
    twice.signal(signal.SIGINT)
    assert twice.wait_for(lambda event: event["event"] == "stopping", 300)
    twice.signal(signal.SIGINT)
    assert twice.ended(300) == 130, twice.errors
    assert twice.errors.splitlines() == ["eqfuzz: interrupted"]
    assert twice.events()[-1]["event"] == "summary"
    assert "stored" not in [event["event"] for event in twice.events()]
    assert left_of(out) == {}

    ended_by_term = Running(out, "night", "--file", file)
    assert ended_by_term.wait_for(lambda event: event["event"] == "item", 1500)
    ended_by_term.signal(signal.SIGTERM)
    assert ended_by_term.ended(900) == 130, ended_by_term.errors

    last = Running(out, "night", "--file", file)
    assert last.ended(1500) == 1, last.errors
    assert_same(stored_state(out, "night"), stored_state(tmp_path / "undisturbed", "night"))
    assert left_of(out) == {}
