"""A run that ends does not wait for the scripts that confirm its findings."""

from __future__ import annotations

import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from eqfuzz.run.environment import Environment
from eqfuzz.run.messages.finding_jobs import DescribeJob
from eqfuzz.run.messages.seed_jobs import RunJob
from eqfuzz.run.processes.cpu_meter import metering
from eqfuzz.run.protocol import RunnerFailed
from eqfuzz.triage.confirm import reproduction
from eqfuzz.triage.confirm.cell import Cell
from eqfuzz.triage.confirm.confirmation import FindingConfirmer
from eqfuzz.triage.confirm.finding_cases import config_of
from eqfuzz.triage.confirm.fresh_process import ProcessResult, run_fresh
from tests.unit.children import DESCRIBED, Children
from tests.unit.triage.findings import finding_of

SLEEP = [sys.executable, "-c", "import time; time.sleep(60)"]


def test_fresh_process_ends_with_the_run() -> None:
    closing = threading.Event()
    threading.Timer(0.2, closing.set).start()
    began = time.monotonic()
    with pytest.raises(RunnerFailed, match="the run ended"):
        run_fresh(SLEEP, 50, closing=closing)
    assert time.monotonic() - began < 30


def test_fresh_process_has_its_own_time_limit_as_well() -> None:
    assert run_fresh(SLEEP, 0.6, closing=threading.Event()) == ProcessResult(None, "")
    assert run_fresh([sys.executable, "-c", "print(7)"], 60, closing=threading.Event()) == ProcessResult(0, "7\n")


def test_interrupted_finding_leaves_no_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pool = Children({DescribeJob: [DESCRIBED]})
    folders: list[Path] = []

    def interrupted(folder: Path, **options: Any) -> None:
        assert options["closing"] is pool.closing
        folders.append(folder)
        assert (folder / "repro.py").is_file()
        raise RunnerFailed("the run ended while a script ran")

    monkeypatch.setattr(reproduction, "replay", interrupted)
    finding = finding_of(settings={"name": "inductor"})
    config = config_of(finding)
    job = RunJob(program=finding.original, configs=(config,))
    confirmer = FindingConfirmer(job, [], pool, Environment(tmp_path), {})
    with pytest.raises(RunnerFailed):
        confirmer.confirm([Cell(0, "cpu", config.name, finding.verdict, 1.0)], None)
    assert folders
    assert not folders[0].exists()


def test_cpu_time_of_fresh_processes_is_metered_with_that_of_their_children() -> None:
    work = "sum(i * i for i in range(3_000_000))"
    child = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {work!r}])"
    with metering() as outer:
        with metering() as one:
            run_fresh([sys.executable, "-c", child], 60)
        with metering() as other:
            run_fresh([sys.executable, "-c", "pass"], 60)
    assert 0 < other.seconds < one.seconds
    assert outer.seconds == one.seconds + other.seconds
