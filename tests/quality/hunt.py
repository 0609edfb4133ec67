"""One fault hunted: ``eqfuzz mutate --preload FAULT`` on the shipped seeds, until a finding of it is the fault's.

All hunts share one store of kernels: a kernel is known by its source, which a fault either changes or does not. Graph
caches are each hunt's own.
"""

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

from eqfuzz.program.parsing import parse
from eqfuzz.program.shipped import folder
from eqfuzz.triage.replay import FIXED, replay
from tests.quality.fault import Fault

OPTIONS = ("--strategy", "random", "--depth", "8", "--variants", "2", "--steps", "1")
"""Many seeds with few variants, each far from its seed: what a short hunt has time for."""


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

    ``passed_over`` counts findings of defects that torch has without the fault, ``defective`` are the seeds that show
    them. Without a ``fault`` the catch is a false alarm.
    """

    fault: Fault | None
    catch: Catch | None
    cells: int
    seconds: float
    passed_over: int
    error: str = ""
    defective: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        return self.fault.name if self.fault is not None else "none"

    @property
    def found(self) -> bool:
        return self.catch is not None

    def to_json(self) -> dict[str, Any]:
        fault = self.fault
        return {
            "fault": self.name,
            "kind": fault.kind if fault is not None else "",
            "reached_by": fault.reached_by if fault is not None else "",
            "issue": fault.issue if fault is not None else "",
            "found": self.found,
            "catch": dataclasses.asdict(self.catch) if self.catch else None,
            "cells": self.cells,
            "seconds": round(self.seconds, 1),
            "passed_over": self.passed_over,
            "error": self.error,
        }


def ordered_seeds(seed: int, within: str = "") -> list[Path]:
    """All shipped seeds whose path below ``seeds/`` begins with ``within``; first those that add most.

    What a seed adds are the names that its text calls and the ones before it do not; ``seed`` decides between equals.
    """
    paths = sorted(p for p in folder("seeds").rglob("*.py") if "__pycache__" not in p.parts)
    paths = [p for p in paths if _short(str(p)).startswith(within)]
    random.Random(seed).shuffle(paths)
    names = {path: _names_called(path) for path in paths}
    ordered: list[Path] = []
    seen: set[str] = set()
    while names:
        best = max(names, key=lambda path: len(names[path] - seen))
        ordered.append(best)
        seen |= names.pop(best)
    return ordered


def _names_called(path: Path) -> set[str]:
    """Attributes, operators and statements that a seed uses."""
    nodes = list(ast.walk(parse(path.read_text(encoding="utf-8"))))
    return {node.attr for node in nodes if isinstance(node, ast.Attribute)} | {type(node).__name__ for node in nodes}


class OwnDefects:
    """Findings that fail without any fault, by what their reproducers run: torch's own, the same under every fault."""

    def __init__(self) -> None:
        self._known: dict[str, bool] = {}

    def is_own(self, finding: Path) -> bool:
        """Whether the reproducer in the folder ``finding`` fails in a fresh process without its ``preload.py``."""
        script = (finding / "repro.py").read_text(encoding="utf-8")
        key = ast.dump(ast.Module(parse(script).body[1:], []))  # the docstring names the finding
        if key not in self._known:
            with tempfile.TemporaryDirectory(prefix="eqfuzz-quality-") as bare:
                shutil.copyfile(finding / "repro.py", Path(bare) / "repro.py")
                self._known[key] = replay(Path(bare)).status != FIXED
        return self._known[key]


def hunt(fault: Fault | None, seeds: Sequence[Path], seed: int, limit: float, own: OwnDefects, kernels: Path) -> Hunt:
    """Run until the fault is found, the seeds are through, or ``limit`` seconds are over; without one, nothing is."""
    began = time.monotonic()
    cells = passed_over = 0
    defective: set[str] = set()
    error = ""
    for event in _campaign(fault, seeds, seed, limit, kernels):
        match event["event"]:
            case "cell" if event["config"]:
                cells += 1
            case "complaint":
                error = event["text"]
            case "finding" if own.is_own(Path(event["folder"])):
                passed_over += 1
                defective.add(event["seed"])
            case "finding":
                rules = [step["rule"] for step in event["derivation"]]
                catch = Catch(event["verdict"]["kind"], _short(event["seed"]), event["config"], rules)
                return Hunt(fault, catch, cells, time.monotonic() - began, passed_over)
    return Hunt(fault, None, cells, time.monotonic() - began, passed_over, error, frozenset(defective))


def _short(seed: str) -> str:
    return str(Path(seed).relative_to(folder("seeds")))


def _campaign(
    fault: Fault | None, seeds: Sequence[Path], seed: int, seconds: float, kernels: Path
) -> Iterator[dict[str, Any]]:
    """The events of a run as they come, for at most ``seconds``; a ``complaint`` if it ended by itself and not well.

    Closing the iterator ends the run; what it wrote goes with it.
    """
    name = fault.name if fault is not None else "none"
    with tempfile.TemporaryDirectory(prefix=f"eqfuzz-quality-{name}-") as folder_of_run:
        out = Path(folder_of_run)
        (out / "cache").mkdir()
        (out / "cache" / "kernels").symlink_to(kernels, target_is_directory=True)
        command = [sys.executable, "-m", "eqfuzz", "mutate", *map(str, seeds), "--seed", str(seed), "--format", "json"]
        command += ["--preload", str(fault.path), "--jobs", "1"] if fault is not None else []
        with (out / "errors.txt").open("w") as errors:
            process = subprocess.Popen(
                [*command, "--out", str(out), *OPTIONS],
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
