"""Detection run of one fault: what ``eqfuzz mutate --preload FAULT`` does with a seed, for one program after another.

All runs share one store of kernels: a kernel is identified by its source, which a fault either changes or does not.
Graph caches belong to one run.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from eqfuzz.events.event import Event
from eqfuzz.events.run import CellJudged, FindingReported, LinesCovered, SeedDone
from eqfuzz.generate.catalogues.programs import CatalogueProgram
from eqfuzz.mutate.seed_run import InternalError, OutOfTime, RunResources, SeedRun
from eqfuzz.mutate.settings import CompileSettings, OracleSettings, RewriteSettings, Settings
from eqfuzz.oracle.compare.checks import DEFAULT_CHECKS
from eqfuzz.oracle.compare.verdict import VerdictKind
from eqfuzz.program.program import InvalidSeed
from eqfuzz.program.shipped import folder
from eqfuzz.run.configs.named import BUILT_IN
from eqfuzz.run.environment import Environment
from eqfuzz.run.limits import Limits
from eqfuzz.run.processes.pool import Pool
from eqfuzz.run.protocol import RunnerFailed
from eqfuzz.triage.confirm.cell import Cell
from eqfuzz.triage.findings.versions import versions
from tools.fault_detection.corpus.corpus import Entry
from tools.fault_detection.detection.phases import DYNAMO_SHARE, PHASES, Phase, PhaseProgram
from tools.fault_detection.detection.reach import ReplacedLines, order_by_new_lines
from tools.fault_detection.detection.result import Detection, DetectionResult
from tools.fault_detection.detection.torch_defects import TorchDefects
from tools.fault_detection.detection.triage import triage
from tools.fault_detection.fault import Fault

COMPILE_SECONDS = 45.0

CHECKS = tuple(check for check in DEFAULT_CHECKS if check not in ("audit", "draws", "place"))
"""Without the checks that only explain a finding."""

SMALLEST_COST = 0.2
"""CPU seconds of a program at least, in whose cost the start of its process has no part."""

REACHABLE_FIRST = True, None, False
"""The order of programs: those that run what the fault replaces, those for which that is unknown, the others."""


@dataclasses.dataclass(frozen=True)
class Observations:
    """What a detection run has seen of each program in each phase.

    ``quiet`` says whether nothing was found there, ``cells`` how many were judged, ``lines`` which lines of the
    compiler ran, as in ``LinesCovered``. ``costs`` has the CPU seconds of programs, without the C++ compiler's.
    ``dropped`` has the numbers of results of programs of catalogues that differ without a fault.
    """

    quiet: dict[PhaseProgram, bool] = dataclasses.field(default_factory=dict[PhaseProgram, bool])
    cells: Counter[PhaseProgram] = dataclasses.field(default_factory=Counter[PhaseProgram])
    lines: dict[PhaseProgram, dict[str, str]] = dataclasses.field(default_factory=dict[PhaseProgram, dict[str, str]])
    costs: dict[str, float] = dataclasses.field(default_factory=dict[str, float])
    dropped: dict[str, list[int]] = dataclasses.field(default_factory=dict[str, list[int]])


class DetectionRunner:
    """Runs programs under one fault until it is detected, in one or more attempts; no program runs twice in a phase.

    Without a fault it is the clean run, which must find nothing but torch's own defects. ``out`` is the run's folder,
    ``kernels`` the shared store. ``clean`` has the observations of the clean run: programs that show torch's own
    defects are left out; programs that run nothing of ``replaced``, the code that the fault replaces, come last.
    After a detection ``folder`` is the folder of the finding.
    """

    def __init__(
        self,
        fault: Fault | None,
        entries: Sequence[Entry],
        seed: int,
        torch_defects: TorchDefects,
        out: Path,
        kernels: Path,
        clean: Observations | None = None,
        replaced: ReplacedLines | None = None,
        *,
        jobs: int = 1,
        most_cells: int | None = None,
        stop: threading.Event | None = None,
    ) -> None:
        self.result = DetectionResult(fault, None, 0, 0.0, 0)
        self.observations = Observations()
        self.folder: Path | None = None
        self._entries = entries
        self._seed = seed
        self._torch_defects = torch_defects
        self._clean = clean if clean is not None else Observations()
        self._replaced = replaced
        self._jobs = jobs
        self._most_cells = most_cells
        self._stop = stop if stop is not None else threading.Event()
        self._lock = threading.Lock()
        self._versions = versions()
        self._environment = _environment(out, kernels, fault)
        self._pools = contextlib.ExitStack()
        self._sound_pool: Pool | None = None
        self._sound = _environment(out.with_name(f"{out.name}-sound"), kernels, None) if fault is not None else None

    def attempt(self, seconds: float, grace: float = 0.0) -> DetectionResult:
        """Run until the fault is detected, all phases are complete, or time or cells are spent.

        A program that was started, and a finding of it, may take ``grace`` seconds longer.
        """
        start = time.monotonic()
        end = start + seconds
        limits = Limits(compile_s=COMPILE_SECONDS)
        with contextlib.ExitStack() as stack:
            threads = stack.enter_context(ThreadPoolExecutor(self._jobs))
            pool = stack.enter_context(Pool(self._environment, limits, jobs=self._jobs))
            self._pools = stack
            for reachable, phase in itertools.product(REACHABLE_FIRST, PHASES):
                deadline = time.monotonic() + self._share(phase) * (end - time.monotonic())

                def run(entry: Entry, phase: Phase = phase, deadline: float = deadline) -> None:
                    if not self._is_over(deadline):
                        self._run(phase, entry, pool, limits, end + grace)

                try:
                    list(threads.map(run, self._remaining(phase, reachable)))
                except RunnerFailed as error:
                    self.result = dataclasses.replace(self.result, error=str(error))
                    break
                except KeyboardInterrupt:
                    self._stop.set()
                    raise
        self._sound_pool = None
        self.result = dataclasses.replace(self.result, seconds=self.result.seconds + time.monotonic() - start)
        return self.result

    def triage(self) -> DetectionResult:
        """Reduce and replay the detection."""
        assert self.result.fault is not None
        assert self.folder is not None
        triaged = triage(self.result.fault, self._environment.out, self.folder.name)
        self.result = dataclasses.replace(self.result, triage=triaged)
        return self.result

    def _share(self, phase: Phase) -> float:
        """The share of the time left; larger for guards where they run replaced code, which is then Dynamo's."""
        is_in_dynamo = self._replaced is not None and bool(self._remaining(phase, reachable=True))
        return DYNAMO_SHARE if phase.name == "guards" and is_in_dynamo else phase.share

    def _remaining(self, phase: Phase, reachable: bool | None) -> list[Entry]:
        """The programs that the phase has not run, of those that reach the fault as ``reachable`` says."""
        allowed = self._allowed()
        remaining = [
            entry
            for entry in phase.programs(self._entries)
            if (key := phase.key(entry)) not in self.observations.quiet
            and self._clean.quiet.get(key) is not False
            and self._is_reachable(key) is reachable
            and (allowed is None or key in allowed)
        ]
        if not reachable or self._replaced is None:
            return remaining
        costs = [max(self._clean.costs.get(str(entry.path), 1.0), SMALLEST_COST) for entry in remaining]
        order = order_by_new_lines([self._replaced_lines_in(phase.key(entry)) for entry in remaining], costs)
        return [remaining[position] for position in order]

    def _is_reachable(self, key: PhaseProgram) -> bool | None:
        """Whether code that the fault replaces runs there; None where the clean run has no observation."""
        if self._replaced is None:
            return True
        return bool(self._replaced_lines_in(key)) if key in self._clean.lines else None

    def _replaced_lines_in(self, key: PhaseProgram) -> frozenset[tuple[str, int]]:
        """The lines replaced by the fault that ran there in the clean run."""
        assert self._replaced is not None
        return self._replaced.run_in(self._clean.lines.get(key, {}))

    def _allowed(self) -> set[PhaseProgram] | None:
        """What a run that skips nothing would reach within its limit of cells; None without a limit."""
        if self._most_cells is None:
            return None
        allowed: set[PhaseProgram] = set()
        left = self._most_cells
        for phase in PHASES:
            until = left - round(phase.share * left)
            for entry in phase.programs(self._entries):
                if left <= until:
                    break
                allowed.add(phase.key(entry))
                left -= self._clean.cells.get(phase.key(entry), 1)
        return allowed

    def _spared(self, phase: Phase, detected_by: Entry) -> int:
        """Cells of the clean run that precede the detection in its phase and were not judged again."""
        before = itertools.takewhile(lambda entry: entry is not detected_by, phase.programs(self._entries))
        keys = [phase.key(entry) for entry in before]
        return sum(self._clean.cells[key] for key in keys if key not in self.observations.cells)

    def _is_over(self, deadline: float) -> bool:
        is_spent = self._most_cells is not None and self.result.cells >= self._most_cells
        return self.result.is_detected or is_spent or self._stop.is_set() or time.monotonic() >= deadline

    def _run(self, phase: Phase, entry: Entry, pool: Pool, limits: Limits, deadline: float) -> None:
        settings = Settings(
            paths=(entry.path,),
            out=self._environment.out,
            seed=self._seed,
            rewriting=RewriteSettings(strategy="none"),
            configs=(BUILT_IN[phase.config],),
            compiling=CompileSettings(preload=self._environment.preload, timeout=COMPILE_SECONDS),
            graphs_first=phase.graphs_first,
            judging=OracleSettings(steps=phase.steps, input_sets=phase.input_sets),
            checks=CHECKS,
            guard_steps=0,
            own_random=False,
            traced=self.result.fault is None,
        )

        def seed_run(program: CatalogueProgram | None, *, apart: bool = False, sound: bool = False) -> SeedRun:
            environment = self._sound if sound and self._sound is not None else self._environment
            compiling = settings.compiling.model_copy(update={"preload": environment.preload})
            return SeedRun(
                index=0,
                path=entry.path,
                settings=dataclasses.replace(settings, out=environment.out, compiling=compiling),
                resources=RunResources(
                    (), self._pool_without_fault(limits) if sound else pool, environment, limits, self._versions
                ),
                emit=lambda event: self._handle(event, phase, entry, deadline),
                stop=self._stop,
                deadline=deadline,
                text=None if program is None else program.source,
                results=tuple(map(tuple, program.arguments())) if program is not None and apart else (),
            )

        try:
            if entry.program is None:
                seed_run(None).run()
            elif self.result.fault is None:
                self._judge_apart(seed_run(entry.program, apart=True), phase, entry)
            else:
                self._run_results(seed_run, entry.program, entry, phase)
        except OutOfTime:
            return
        except InternalError as error:
            with self._lock:
                self.result = dataclasses.replace(self.result, error=str(error))
        self.observations.quiet.setdefault(phase.key(entry), True)

    def _pool_without_fault(self, limits: Limits) -> Pool:
        with self._lock:
            if self._sound_pool is None:
                assert self._sound is not None
                self._sound_pool = self._pools.enter_context(Pool(self._sound, limits, jobs=self._jobs))
            return self._sound_pool

    def _run_results(
        self, seed_run: Callable[..., SeedRun], program: CatalogueProgram, entry: Entry, phase: Phase
    ) -> None:
        """Judge each result of a catalogue's program, and run those that differ as programs of their own.

        Results that differ without a fault are left out. Where none of the others differs alone they run together.
        """
        dropped = self._clean.dropped.get(str(entry.path), [])
        program = program.without(dropped)
        judging = seed_run(program, apart=not program.is_refused)
        with contextlib.suppress(InvalidSeed):
            judging.judge()
        cells = list(judging.cells.values())
        different = _different(cells)
        if different and phase.key(entry) not in self._clean.quiet:
            sound = seed_run(program, apart=True, sound=True)  # the clean run has not come so far
            sound.judge()
            different = [n for n in different if n not in _different(list(sound.cells.values()))]
        if cells and not different and (cells[0].apart or cells[0].verdict.kind is VerdictKind.AGREE):
            with self._lock:
                self.result = dataclasses.replace(self.result, cells=self.result.cells + 1)
                self.observations.cells[phase.key(entry)] += 1
            return
        computed = [n for n in range(len(program.results)) if n not in dropped]
        for number in different:
            seed_run(program.without([n for n in computed if n != computed[number]])).run()
        if not self.result.is_detected:
            seed_run(program).run()

    def _judge_apart(self, run: SeedRun, phase: Phase, entry: Entry) -> None:
        """Judge each result of a catalogue's program: those that differ are left out under a fault."""
        assert entry.program is not None
        key = phase.key(entry)
        try:
            run.judge()
        except InvalidSeed:
            self.observations.quiet[key] = False
            return
        if not run.cells:  # its child ended before it was compiled: of memory, say
            logging.warning("%s: no cell was judged", entry.path)
            self.observations.quiet[key] = False
            return
        (cell,) = run.cells.values()
        different = _different([cell])
        is_quiet = cell.verdict.kind is VerdictKind.AGREE or bool(cell.apart)
        with self._lock:
            self.result = dataclasses.replace(self.result, cells=self.result.cells + 1)
            self.observations.cells[key] += 1
        self.observations.quiet[key] = is_quiet and len(different) < len(entry.program.results)
        dropped = self.observations.dropped.get(str(entry.path), [])
        self.observations.dropped[str(entry.path)] = sorted({*dropped, *different})
        self.observations.lines[key] = run.covered_lines()
        self.observations.costs[str(entry.path)] = run.cpu_seconds - run.timings.get("g++", 0.0)

    def _handle(self, event: Event, phase: Phase, entry: Entry, deadline: float) -> None:
        """Record an event. Raises OutOfTime where no further event of the program matters."""
        key = phase.key(entry)
        match event:
            case CellJudged() if event.config:
                with self._lock:
                    self.result = dataclasses.replace(self.result, cells=self.result.cells + 1)
                    self.observations.cells[key] += 1
            case LinesCovered():
                self.observations.lines[key] = event.files
            case SeedDone() if phase.name == "programs":
                self.observations.costs[str(entry.path)] = event.cpu_seconds - event.timings.get("g++", 0.0)
            case FindingReported() if not self.result.is_detected:
                # The results of a catalogue's program were judged apart, so the clean run has not seen all of it.
                is_seen = self._clean.quiet.get(key) and entry.program is None
                is_of_torch = not is_seen and self._torch_defects.includes(Path(event.folder))
                with self._lock:
                    self.observations.quiet[key] = False
                    self._record_finding(event, phase, entry, is_of_torch=is_of_torch)
                if self._is_over(deadline):
                    raise OutOfTime
            case _:
                pass

    def _record_finding(self, event: FindingReported, phase: Phase, entry: Entry, *, is_of_torch: bool) -> None:
        if is_of_torch:
            self.result = dataclasses.replace(self.result, passed_over=self.result.passed_over + 1)
            return
        finding = event.finding
        detection = Detection(
            verdict=str(finding.verdict.kind),
            seed=_short(entry.path),
            config=finding.config,
            rules=list(entry.rules),
            phase=phase.name,
            stage=finding.stage,
        )
        self.folder = Path(event.folder)
        self.result = dataclasses.replace(self.result, detection=detection, spared=self._spared(phase, entry))


def _environment(out: Path, kernels: Path, fault: Fault | None) -> Environment:
    """The environment of processes with ``fault``, which share ``kernels`` and no graphs."""
    environment = Environment(out, fault.path if fault is not None else None)
    environment.caches().mkdir(parents=True)
    (environment.caches() / "kernels").symlink_to(kernels, target_is_directory=True)
    return environment


def _different(cells: Sequence[Cell]) -> list[int]:
    """The numbers of the results that differ, where each was judged apart."""
    return [number for cell in cells for number, verdict in cell.apart if verdict.is_finding]


def _short(path: Path) -> str:
    root = folder("seeds")
    return str(path.relative_to(root)) if path.is_relative_to(root) else path.name
