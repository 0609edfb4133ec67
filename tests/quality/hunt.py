"""One fault hunted: ``eqfuzz mutate --preload FAULT`` on the shipped seeds, until a finding of it is the fault's."""

from __future__ import annotations

import ast
import dataclasses
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from eqfuzz.program.shipped import folder
from eqfuzz.triage.replay import FIXED, replay
from tests.commandline import share_header
from tests.quality.fault import Fault

CONFIGS = Path(__file__).with_name("configs.toml")

VARIANTS = ("--strategy", "random", "--depth", "6", "--variants", "3")


@dataclasses.dataclass(frozen=True)
class Pass:
    """One run over all seeds; ``share`` of the time that is left for the fault when it starts."""

    options: tuple[str, ...]
    share: float


PASSES = (
    Pass(("--configs-from", str(CONFIGS), "--config", "decomposed", "--steps", "4", *VARIANTS), 0.35),
    Pass(("--steps", "0", *VARIANTS), 1.0),
)
"""Faults that show before code is generated, guards among them, show in cheap cells: these go first."""


@dataclasses.dataclass(frozen=True)
class Catch:
    """The finding that is the fault's. ``rules`` are those of its derivation: empty, the seed itself shows it."""

    verdict: str
    seed: str
    config: str
    rules: list[str]


@dataclasses.dataclass(frozen=True)
class Hunt:
    """How the hunt for one fault went. ``cells`` counts compiled cells judged, ``error`` is eqfuzz's own complaint.

    ``passed_over`` counts findings of defects that torch has without the fault.
    """

    fault: Fault
    catch: Catch | None
    cells: int
    seconds: float
    passed_over: int
    error: str = ""

    @property
    def found(self) -> bool:
        return self.catch is not None

    def to_json(self) -> dict[str, Any]:
        fault = self.fault
        return {
            "fault": fault.name,
            "kind": fault.kind,
            "reached_by": fault.reached_by,
            "issue": fault.issue,
            "found": self.found,
            "catch": dataclasses.asdict(self.catch) if self.catch else None,
            "cells": self.cells,
            "seconds": round(self.seconds, 1),
            "passed_over": self.passed_over,
            "error": self.error,
        }


def shuffled_seeds(seed: int, within: str = "") -> list[Path]:
    """All shipped seeds whose path below ``seeds/`` begins with ``within``, in an order that ``seed`` decides."""
    paths = sorted(p for p in folder("seeds").rglob("*.py") if "__pycache__" not in p.parts)
    paths = [p for p in paths if _short(str(p)).startswith(within)]
    random.Random(seed).shuffle(paths)
    return paths


class OwnDefects:
    """Findings that fail without any fault, by what their reproducers run: torch's own, the same under every fault."""

    def __init__(self) -> None:
        self._known: dict[str, bool] = {}

    def is_own(self, finding: Path) -> bool:
        """Whether the reproducer in the folder ``finding`` fails in a fresh process without its ``preload.py``."""
        script = (finding / "repro.py").read_text(encoding="utf-8")
        key = ast.dump(ast.Module(ast.parse(script).body[1:], []))  # the docstring names the finding
        if key not in self._known:
            with tempfile.TemporaryDirectory(prefix="eqfuzz-quality-") as bare:
                shutil.copyfile(finding / "repro.py", Path(bare) / "repro.py")
                self._known[key] = replay(Path(bare)).status != FIXED
        return self._known[key]


def hunt(fault: Fault, seeds: Sequence[Path], seed: int, limit: float, own: OwnDefects) -> Hunt:
    """Run the passes until the fault is found, the seeds are through, or ``limit`` seconds are over."""
    began = time.monotonic()
    cells = passed_over = 0
    error = ""
    for one in PASSES:
        left = limit - (time.monotonic() - began)
        if left <= 0 or error:
            break
        for event in _campaign(fault, seeds, seed, one.options, left * one.share):
            match event["event"]:
                case "cell" if event["config"]:
                    cells += 1
                case "complaint":
                    error = event["text"]
                case "finding" if own.is_own(Path(event["folder"])):
                    passed_over += 1
                case "finding":
                    rules = [step["rule"] for step in event["derivation"]]
                    catch = Catch(event["verdict"]["kind"], _short(event["seed"]), event["config"], rules)
                    return Hunt(fault, catch, cells, time.monotonic() - began, passed_over)
    return Hunt(fault, None, cells, time.monotonic() - began, passed_over, error)


def _short(seed: str) -> str:
    return str(Path(seed).relative_to(folder("seeds")))


def _campaign(
    fault: Fault, seeds: Sequence[Path], seed: int, options: Sequence[str], seconds: float
) -> Iterator[dict[str, Any]]:
    """The events of a run as they come, for at most ``seconds``; a ``complaint`` if it ended by itself and not well.

    Closing the iterator ends the run; what it wrote goes with it.
    """
    with tempfile.TemporaryDirectory(prefix=f"eqfuzz-quality-{fault.name}-") as folder_of_run:
        out = Path(folder_of_run)
        share_header(out)
        command = [sys.executable, "-m", "eqfuzz", "mutate", *map(str, seeds)]
        command += ["--preload", str(fault.path), "--seed", str(seed), "--jobs", "1", "--format", "json"]
        with (out / "errors.txt").open("w") as errors:
            process = subprocess.Popen(
                [*command, "--out", str(out), *options],
                stdout=subprocess.PIPE,
                stderr=errors,
                stdin=subprocess.DEVNULL,
                text=True,
                start_new_session=True,
            )
        late = threading.Event()
        timer = threading.Timer(seconds, lambda: (late.set(), _interrupt(process)))
        timer.start()
        try:
            assert process.stdout is not None
            for line in process.stdout:
                if late.is_set():
                    return  # what comes after an interrupt belongs to cases that were cut off
                yield json.loads(line)
            if process.wait() not in (0, 1) and not late.is_set():
                complaints = (out / "errors.txt").read_text(encoding="utf-8").strip().splitlines()
                yield {"event": "complaint", "text": (complaints or [f"exit status {process.returncode}"])[-1]}
        finally:
            timer.cancel()
            _end(process)


def _end(process: subprocess.Popen[str]) -> None:
    """Interrupt the run and wait; kill it with all its children if that does not help."""
    _interrupt(process)
    try:
        process.communicate(timeout=30)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def _interrupt(process: subprocess.Popen[str]) -> None:
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
