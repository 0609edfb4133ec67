"""Ctrl-C, SIGTERM, a locked database: a campaign ends or waits as it says, and goes on as if nothing had happened."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.robustness.campaigns import Running, assert_same, configured, kept, left_of, undamaged

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]

CELLS = 60


def pretended(out: Path, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.robustness.pretended_campaign", "--cells", str(CELLS), "--out", str(out)]
    return subprocess.Popen(
        [*command, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    )


def ended(process: subprocess.Popen[str]) -> dict[str, Any]:
    output, errors = process.communicate(timeout=3000)
    assert process.returncode == 0 and not errors, output + errors
    return json.loads(output)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("undisturbed")
    ended(pretended(out))
    return out


def logged(out: Path) -> list[dict[str, Any]]:
    log = out / "pretended" / "events.ndjson"
    return [json.loads(line) for line in log.read_bytes().split(b"\n")[:-1]] if log.exists() else []


def wait_for(out: Path, process: subprocess.Popen[str], event: str, number: int) -> None:
    while sum(one["event"] == event for one in logged(out)) < number:
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)


def signalled(out: Path, *numbers: signal.Signals, seconds: float) -> tuple[dict[str, Any], list[str]]:
    """The summary of a pretended campaign that gets signals while it does its fourth item, and events from there on."""
    process = pretended(out, "--seconds", seconds, "--slow-from", 4)
    wait_for(out, process, "item", 4)
    for count, number in enumerate(numbers):
        process.send_signal(number)
        if count == 0:
            wait_for(out, process, "stopping", 1)
    ended(process)
    names = [event["event"] for event in logged(out)]
    return logged(out)[-1], names[names.index("stopping") :]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_one_signal_finishes_what_is_in_flight(tmp_path: Path, undisturbed: Path, number: signal.Signals) -> None:
    summary, events = signalled(tmp_path, number, seconds=1.5)
    assert summary["interrupted"] and summary["why"] == "interrupt" and summary["errors"] == []
    assert events == ["stopping", "stored", "summary"]
    ended(pretended(tmp_path))
    assert_same(kept(tmp_path, "pretended"), kept(undisturbed, "pretended"))


def test_two_signals_stop_at_once(tmp_path: Path, undisturbed: Path) -> None:
    began = time.monotonic()
    summary, events = signalled(tmp_path, signal.SIGINT, signal.SIGINT, seconds=600)
    assert time.monotonic() - began < 600
    assert summary["interrupted"] and summary["errors"] == []
    assert events == ["stopping", "summary"]
    ended(pretended(tmp_path))
    assert_same(kept(tmp_path, "pretended"), kept(undisturbed, "pretended"))


def test_a_locked_database_is_waited_for(tmp_path: Path, undisturbed: Path) -> None:
    process = pretended(tmp_path, "--seconds", 0.05, "--patience", 0.2)
    wait_for(tmp_path, process, "stored", 3)
    other = sqlite3.connect(tmp_path / "campaigns.db", timeout=60, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    wait_for(tmp_path, process, "waiting", 2)
    other.rollback()
    other.close()
    waited = ended(process)["waited"]
    assert waited[0] == "database locked" and waited[-1] == ""
    assert_same(kept(tmp_path, "pretended"), kept(undisturbed, "pretended"))


def test_a_stop_need_not_wait_for_the_database(tmp_path: Path) -> None:
    process = pretended(tmp_path, "--patience", 0.2, "--seconds", 0.05)
    wait_for(tmp_path, process, "stored", 3)
    other = sqlite3.connect(tmp_path / "campaigns.db", timeout=60, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    wait_for(tmp_path, process, "waiting", 2)
    process.send_signal(signal.SIGTERM)
    wait_for(tmp_path, process, "stopping", 1)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=300)
    assert logged(tmp_path)[-1]["event"] == "summary"
    other.rollback()
    other.close()
    assert undamaged(tmp_path, "pretended") == []


def test_processes_that_begin_at_once_share_a_new_store(tmp_path: Path, undisturbed: Path) -> None:
    processes = [pretended(tmp_path, "--seconds", 0.02) for _ in range(3)]
    for process in processes:
        ended(process)
    performed = (tmp_path / "pretended" / "performed").read_text().split()
    assert len(performed) == len(set(performed))
    until = min(kept(tmp_path, "pretended").epoch, kept(undisturbed, "pretended").epoch)
    shared = kept(tmp_path, "pretended", until=until)
    assert_same(shared, kept(undisturbed, "pretended", until=until), timing=True)


@pytest.mark.long
def test_eqfuzz_itself(tmp_path: Path) -> None:
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
    assert names[-1] == "summary" and names.index("stopping") < names.index("stored") < len(names) - 1

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
    assert_same(kept(out, "night"), kept(tmp_path / "undisturbed", "night"))
    assert left_of(out) == {}
