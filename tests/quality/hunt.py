"""One fault hunted: ``eqfuzz mutate --preload FAULT`` on the corpus, until a finding of it is the fault's.

All hunts share one store of kernels: a kernel is known by its source, which a fault either changes or does not. Graph
caches are each hunt's own.
"""

from __future__ import annotations

import ast
import dataclasses
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import types
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from eqfuzz.program.parsing import parse
from eqfuzz.program.shipped import folder
from eqfuzz.triage.replay import FIXED, replay
from tests.quality.corpus import Entry
from tests.quality.fault import Fault
from tests.quality.triaged import Triaged, triage

SHORTEST = 15.0
"""Seconds that a phase takes at least: most of them until its first program runs."""


@dataclasses.dataclass(frozen=True)
class Phase:
    """One run of a hunt, for at most ``share`` of the time that is left; ``seeds_only`` leaves the variants out."""

    name: str
    options: tuple[str, ...]
    share: float
    seeds_only: bool

    def programs(self, entries: Sequence[Entry]) -> list[Entry]:
        """What it runs, in order: where guards are tried, those first that have most to guard."""
        chosen = [entry for entry in entries if not (self.seeds_only and entry.rules)]
        return sorted(chosen, key=lambda entry: -entry.state) if self.name == "guards" else chosen


PHASES = (
    # Guards are Dynamo's, and cheapest without the rest of the compiler.
    Phase("guards", ("--config", "eager", "--steps", "12"), 0.2, seeds_only=True),
    Phase("programs", ("--input-sets", "1", "--steps", "0"), 0.9, seeds_only=False),
    Phase("sequences", ("--steps", "1"), 1.0, seeds_only=True),
)


@dataclasses.dataclass(frozen=True)
class Catch:
    """The finding that is the fault's. ``rules`` are those of its derivation: empty, the seed itself shows it.

    ``stage`` is the one that the finding blames, empty where that is not known.
    """

    verdict: str
    seed: str
    config: str
    rules: list[str]
    phase: str
    stage: str


@dataclasses.dataclass(frozen=True)
class Hunt:
    """How the hunt for one fault went. ``cells`` counts compiled cells judged, ``error`` is eqfuzz's own complaint.

    ``passed_over`` counts findings of defects that torch has without the fault, ``judged`` says by phase and program
    that there was none; ``costs`` are CPU-seconds of programs, the C++ compiler's aside. Without a ``fault`` the catch
    is a false alarm.
    """

    fault: Fault | None
    catch: Catch | None
    cells: int
    seconds: float
    passed_over: int
    error: str = ""
    judged: Mapping[tuple[str, str], bool] = dataclasses.field(default_factory=dict[tuple[str, str], bool])
    costs: Mapping[str, float] = dataclasses.field(default_factory=dict[str, float])
    triaged: Triaged | None = None

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
            **({"triaged": dataclasses.asdict(self.triaged)} if self.triaged is not None else {}),
        }


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


def hunt(
    fault: Fault | None,
    entries: Sequence[Entry],
    seed: int,
    limit: float,
    own: OwnDefects,
    kernels: Path,
    clean: Mapping[tuple[str, str], bool] = types.MappingProxyType({}),
    *,
    triages: bool = False,
    most_cells: int | None = None,
) -> Hunt:
    """Run until the fault is found, the phases are through, or ``limit`` seconds or ``most_cells`` cells are over.

    Without a fault, nothing is to be found.

    ``clean`` says in which phases and programs a run without a fault found nothing (True), or torch's own defects
    (False): these would only cost time. ``triages``: what is found is reduced and replayed, beyond the limit.
    """
    began = time.monotonic()
    done = Hunt(fault, None, 0, 0.0, 0)
    for phase in PHASES:
        left = limit - (time.monotonic() - began)
        if done.found or left < SHORTEST or (most_cells is not None and done.cells >= most_cells):
            break
        more = {"triages": triages, "most_cells": most_cells}
        done = _run_phase(phase, done, entries, clean, seed, phase.share * left, own, kernels, **more)
        done = dataclasses.replace(done, seconds=time.monotonic() - began)
    return done


def _run_phase(
    phase: Phase,
    so_far: Hunt,
    entries: Sequence[Entry],
    clean: Mapping[tuple[str, str], bool],
    seed: int,
    limit: float,
    own: OwnDefects,
    kernels: Path,
    *,
    triages: bool,
    most_cells: int | None,
) -> Hunt:
    rules = {str(entry.path): list(entry.rules) for entry in entries}
    paths = [entry.path for entry in phase.programs(entries)]
    paths = [path for path in paths if clean.get((phase.name, str(path))) is not False]
    cells, passed_over, error = so_far.cells, so_far.passed_over, so_far.error
    judged, costs = dict(so_far.judged), dict(so_far.costs)
    catch, triaged = None, None
    copy = Path(tempfile.mkdtemp(prefix="eqfuzz-quality-"))
    for event in _campaign(so_far.fault, paths, phase.options, seed, limit, kernels):
        place = phase.name, event.get("seed", "")
        match event["event"]:
            case "cell" if event["config"]:
                cells += 1
                if cells == most_cells:
                    break
            case "complaint":
                error = event["text"]
            case "done":
                judged.setdefault(place, True)
                if phase.name == "programs":
                    costs[event["seed"]] = event["cpu_seconds"] - event["timings"].get("g++", 0.0)
            case "finding" if not clean.get(place) and own.is_own(Path(event["folder"])):
                passed_over += 1
                judged[place] = False
            case "finding":
                kind, seed_file = event["verdict"]["kind"], event["seed"]
                catch = Catch(kind, _short(seed_file), event["config"], rules[seed_file], phase.name, event["stage"])
                if triages:
                    shutil.copytree(event["folder"], copy / "findings" / event["id"])
                break
    if so_far.fault is not None:
        for finding in (copy / "findings").glob("*"):
            triaged = triage(so_far.fault, copy, finding.name)
    shutil.rmtree(copy)
    told = {"cells": cells, "passed_over": passed_over, "error": error, "triaged": triaged}
    return dataclasses.replace(so_far, catch=catch, judged=judged, costs=costs, **told)


def _short(seed: str) -> str:
    root = folder("seeds")
    return str(Path(seed).relative_to(root)) if Path(seed).is_relative_to(root) else Path(seed).name


def _campaign(
    fault: Fault | None, paths: Sequence[Path], options: Sequence[str], seed: int, seconds: float, kernels: Path
) -> Iterator[dict[str, Any]]:
    """The events of a run as they come, for at most ``seconds``; a ``complaint`` if it ended by itself and not well.

    Closing the iterator ends the run; what it wrote goes with it.
    """
    name = fault.name if fault is not None else "none"
    with tempfile.TemporaryDirectory(prefix=f"eqfuzz-quality-{name}-") as folder_of_run:
        out = Path(folder_of_run)
        (out / "cache").mkdir()
        (out / "cache" / "kernels").symlink_to(kernels, target_is_directory=True)
        command = [sys.executable, "-m", "eqfuzz", "mutate", *map(str, paths), "--strategy", "none", *options]
        command += ["--no-check", "audit,draws,place"]
        command += ["--seed", str(seed), "--format", "json"]
        command += ["--preload", str(fault.path), "--jobs", "1"] if fault is not None else []
        with (out / "errors.txt").open("w") as errors:
            process = subprocess.Popen(
                [*command, "--out", str(out)],
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
