"""One fault hunted: what ``eqfuzz mutate --preload FAULT`` does with a seed, on one program after another.

All hunts share one store of kernels: a kernel is known by its source, which a fault either changes or does not. Graph
caches are each hunt's own.
"""

from __future__ import annotations

import ast
import dataclasses
import itertools
import shutil
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from eqfuzz.events.event import Event
from eqfuzz.events.run import CellJudged, FindingReported, LinesCovered, SeedDone
from eqfuzz.mutate.seed_run import InternalError, OutOfTime, SeedRun
from eqfuzz.mutate.settings import Settings
from eqfuzz.oracle.compare.checks import DEFAULT_CHECKS
from eqfuzz.program.parsing import parse
from eqfuzz.program.shipped import folder
from eqfuzz.run.configs.named import BUILT_IN
from eqfuzz.run.environment import Environment
from eqfuzz.run.limits import Limits
from eqfuzz.run.processes.pool import Pool
from eqfuzz.run.protocol import RunnerFailed
from eqfuzz.triage.confirm.replay import FIXED, replay
from eqfuzz.triage.findings.versions import versions
from tools.fault_detection.corpus import Entry
from tools.fault_detection.fault import Fault
from tools.fault_detection.reach import Replaced, furthest_first
from tools.fault_detection.triaged import Triaged, triage

COMPILE_SECONDS = 45.0

CHECKS = tuple(check for check in DEFAULT_CHECKS if check not in ("audit", "draws", "place"))
"""What a finding is looked into for is not part of finding it."""


@dataclasses.dataclass(frozen=True)
class Phase:
    """A part of a hunt, for at most ``share`` of the time that is left; ``seeds_only`` leaves the variants out."""

    name: str
    config: str
    steps: int
    input_sets: int
    share: float
    seeds_only: bool

    def programs(self, entries: Sequence[Entry]) -> list[Entry]:
        """What it runs, in order: where guards are tried, those first that have most to guard."""
        chosen = [entry for entry in entries if not (self.seeds_only and entry.rules)]
        return sorted(chosen, key=lambda entry: -entry.state) if self.name == "guards" else chosen


PHASES = (
    # Guards are Dynamo's, and cheapest without the rest of the compiler.
    Phase("guards", "eager", 24, 0, 0.15, seeds_only=True),
    Phase("programs", "inductor", 0, 1, 0.9, seeds_only=False),
    Phase("sequences", "inductor", 1, 0, 1.0, seeds_only=True),
)


OF_DYNAMO_SHARE = 0.7
"""Of the time for a fault in Dynamo's code, for the guards."""

TURNS = True, None, False
"""First the places where what a fault replaces runs, most of it first, then those of which that is not known, then the
others."""


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

    ``spared`` counts the cells of the find's phase that stand before it and were not judged again, since the code that
    the fault replaces does not run in them. ``passed_over`` counts findings of defects that torch has without the
    fault. Without a ``fault`` the catch is a false alarm.
    """

    fault: Fault | None
    catch: Catch | None
    cells: int
    seconds: float
    passed_over: int
    error: str = ""
    spared: int = 0
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
            "spared": self.spared,
            "seconds": round(self.seconds, 1),
            "passed_over": self.passed_over,
            "error": self.error,
            **({"triaged": dataclasses.asdict(self.triaged)} if self.triaged is not None else {}),
        }


Place = tuple[str, str]
"""The name of a phase, and the path of a program that it runs."""


@dataclasses.dataclass(frozen=True)
class Record:
    """What was seen in each place that a hunter is through with.

    ``quiet`` says whether nothing was found there, ``cells`` how many were judged, ``lines`` which lines of the
    compiler ran, as in ``LinesCovered``. ``costs`` has the CPU-seconds of programs, the C++ compiler's aside.
    """

    quiet: dict[Place, bool] = dataclasses.field(default_factory=dict[Place, bool])
    cells: Counter[Place] = dataclasses.field(default_factory=Counter[Place])
    lines: dict[Place, dict[str, str]] = dataclasses.field(default_factory=dict[Place, dict[str, str]])
    costs: dict[str, float] = dataclasses.field(default_factory=dict[str, float])


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


class Hunter:
    """Hunts one fault, in as many goes as it is given; what a go was through with, the next does not run again.

    Without a fault, nothing is to be found. ``out`` is the run's folder, ``kernels`` the store that all share.
    ``clean`` is the record of a run without a fault. Where that found torch's own defects, more would be found only of
    these; where nothing of what the fault has ``replaced`` ran, nothing can be: these places come last. After a find
    its folder is ``folder``.
    """

    def __init__(
        self,
        fault: Fault | None,
        entries: Sequence[Entry],
        seed: int,
        own: OwnDefects,
        out: Path,
        kernels: Path,
        clean: Record | None = None,
        replaced: Replaced | None = None,
        *,
        jobs: int = 1,
        most_cells: int | None = None,
        stop: threading.Event | None = None,
    ) -> None:
        self.hunt = Hunt(fault, None, 0, 0.0, 0)
        self.record = Record()
        self.folder: Path | None = None
        self._entries = entries
        self._seed = seed
        self._own = own
        self._clean = clean if clean is not None else Record()
        self._replaced = replaced
        self._jobs = jobs
        self._most_cells = most_cells
        self._stop = stop if stop is not None else threading.Event()
        self._lock = threading.Lock()
        self._versions = versions()
        self._environment = Environment(out, fault.path if fault is not None else None)
        self._environment.caches().mkdir(parents=True)
        (self._environment.caches() / "kernels").symlink_to(kernels, target_is_directory=True)

    def go_on(self, seconds: float, grace: float = 0.0) -> Hunt:
        """Until the fault is found, the phases are through, or ``seconds`` or all its cells are over.

        A program that has begun, and a finding of it, may take ``grace`` seconds longer.
        """
        began = time.monotonic()
        end = began + seconds
        limits = Limits(compile_s=COMPILE_SECONDS)
        with Pool(self._environment, limits, jobs=self._jobs) as pool, ThreadPoolExecutor(self._jobs) as threads:
            for turn, phase in itertools.product(TURNS, PHASES):
                deadline = time.monotonic() + self._share(phase) * (end - time.monotonic())

                def run(entry: Entry, phase: Phase = phase, deadline: float = deadline) -> None:
                    if not self._is_over(deadline):
                        self._run(phase, entry, pool, limits, end + grace)

                try:
                    list(threads.map(run, self._left(phase, turn)))
                except RunnerFailed as error:
                    self.hunt = dataclasses.replace(self.hunt, error=str(error))
                    break
                except KeyboardInterrupt:
                    self._stop.set()
                    raise
        self.hunt = dataclasses.replace(self.hunt, seconds=self.hunt.seconds + time.monotonic() - began)
        return self.hunt

    def triage(self) -> Hunt:
        """What was found, reduced and replayed."""
        assert self.hunt.fault is not None
        assert self.folder is not None
        triaged = triage(self.hunt.fault, self._environment.out, self.folder.name)
        self.hunt = dataclasses.replace(self.hunt, triaged=triaged)
        return self.hunt

    def _share(self, phase: Phase) -> float:
        """More for the guards where what the fault replaces runs there: it is Dynamo's, and shows without the rest."""
        is_of_dynamo = self._replaced is not None and bool(self._left(phase, turn=True))
        return OF_DYNAMO_SHARE if phase.name == "guards" and is_of_dynamo else phase.share

    def _left(self, phase: Phase, turn: bool | None) -> list[Entry]:
        """What the phase has to run yet, of the places whose turn it is."""
        allowed = self._allowed()
        left = [
            entry
            for entry in phase.programs(self._entries)
            if (place := (phase.name, str(entry.path))) not in self.record.quiet
            and self._clean.quiet.get(place) is not False
            and self._may_show(place) is turn
            and (allowed is None or place in allowed)
        ]
        if not turn or self._replaced is None:
            return left
        return [left[position] for position in furthest_first([self._shown((phase.name, str(e.path))) for e in left])]

    def _may_show(self, place: Place) -> bool | None:
        """Whether anything that the fault replaces runs there; None where the clean run has not been."""
        if self._replaced is None:
            return True
        return bool(self._shown(place)) if place in self._clean.lines else None

    def _shown(self, place: Place) -> frozenset[tuple[str, int]]:
        """Of what the fault replaces, the lines that ran there in the clean run."""
        assert self._replaced is not None
        return self._replaced.run_in(self._clean.lines.get(place, {}))

    def _allowed(self) -> set[Place] | None:
        """Where a hunt that leaves nothing out would be within its limit of cells; None without a limit."""
        if self._most_cells is None:
            return None
        allowed: set[Place] = set()
        left = self._most_cells
        for phase in PHASES:
            until = left - round(phase.share * left)
            for entry in phase.programs(self._entries):
                if left <= until:
                    break
                place = phase.name, str(entry.path)
                allowed.add(place)
                left -= self._clean.cells.get(place, 1)
        return allowed

    def _spared(self, phase: Phase, found: Entry) -> int:
        """Cells of the clean run, in the phase and before the find, that were not judged again."""
        before = itertools.takewhile(lambda entry: entry is not found, phase.programs(self._entries))
        places = [(phase.name, str(entry.path)) for entry in before]
        return sum(self._clean.cells[place] for place in places if place not in self.record.cells)

    def _is_over(self, deadline: float) -> bool:
        is_spent = self._most_cells is not None and self.hunt.cells >= self._most_cells
        return self.hunt.found or is_spent or self._stop.is_set() or time.monotonic() >= deadline

    def _run(self, phase: Phase, entry: Entry, pool: Pool, limits: Limits, deadline: float) -> None:
        settings = Settings(
            paths=(entry.path,),
            out=self._environment.out,
            seed=self._seed,
            strategy="none",
            configs=(BUILT_IN[phase.config],),
            preload=self._environment.preload,
            compile_seconds=COMPILE_SECONDS,
            checks=CHECKS,
            steps=phase.steps,
            guard_steps=0,
            own_random=False,
            input_sets=phase.input_sets,
            traced=self.hunt.fault is None,
        )
        run = SeedRun(
            index=0,
            path=entry.path,
            settings=settings,
            rules=(),
            pool=pool,
            environment=self._environment,
            limits=limits,
            versions=self._versions,
            emit=lambda event: self._take(event, phase, entry, deadline),
            stop=self._stop,
            deadline=deadline,
        )
        try:
            run.run()
        except OutOfTime:
            return
        except InternalError as error:
            with self._lock:
                self.hunt = dataclasses.replace(self.hunt, error=str(error))
        self.record.quiet.setdefault((phase.name, str(entry.path)), True)

    def _take(self, event: Event, phase: Phase, entry: Entry, deadline: float) -> None:
        """Raises OutOfTime where this event is the last that matters."""
        place = phase.name, str(entry.path)
        match event:
            case CellJudged() if event.config:
                with self._lock:
                    self.hunt = dataclasses.replace(self.hunt, cells=self.hunt.cells + 1)
                    self.record.cells[place] += 1
            case LinesCovered():
                self.record.lines[place] = event.files
            case SeedDone() if phase.name == "programs":
                self.record.costs[str(entry.path)] = event.cpu_seconds - event.timings.get("g++", 0.0)
            case FindingReported() if not self.hunt.found:
                is_own = not self._clean.quiet.get(place) and self._own.is_own(Path(event.folder))
                with self._lock:
                    self.record.quiet[place] = False
                    self._note(event, phase, entry, is_own=is_own)
                if self._is_over(deadline):
                    raise OutOfTime
            case _:
                pass

    def _note(self, event: FindingReported, phase: Phase, entry: Entry, *, is_own: bool) -> None:
        if is_own:
            self.hunt = dataclasses.replace(self.hunt, passed_over=self.hunt.passed_over + 1)
            return
        finding = event.finding
        stage = finding.ablation.stage if finding.ablation is not None else ""
        kind, rules = str(finding.verdict.kind), list(entry.rules)
        catch = Catch(kind, _short(entry.path), finding.config, rules, phase.name, stage)
        self.folder = Path(event.folder)
        self.hunt = dataclasses.replace(self.hunt, catch=catch, spared=self._spared(phase, entry))


def _short(path: Path) -> str:
    root = folder("seeds")
    return str(path.relative_to(root)) if path.is_relative_to(root) else path.name
