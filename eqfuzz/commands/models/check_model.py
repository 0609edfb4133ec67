"""The check of one model: each use of it, and rewritten variants, compiled and compared with eager."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from eqfuzz.commands.seeds.each_seed import answer_of
from eqfuzz.errors import UsageError, one_line
from eqfuzz.events.event import Event, Handler
from eqfuzz.events.model_check import ModelCheckStarted, ModelCheckSummary, UseChecked
from eqfuzz.events.run import CellJudged, FindingReported, SeedDone, SeedInvalid, SeedStarted, Summary
from eqfuzz.imports.model_uses import DYNAMIC, FORWARD, ModelUse
from eqfuzz.imports.python_models import GatheredModel
from eqfuzz.mutate.run import check_folders, run
from eqfuzz.mutate.settings import OracleSettings, RewriteSettings, Settings
from eqfuzz.oracle.compare.checks import AFTERWARDS, ORACLES
from eqfuzz.oracle.compare.verdict import Verdict, VerdictKind
from eqfuzz.run.limits import Limits
from eqfuzz.run.messages.structure_jobs import StructureJob
from eqfuzz.run.processes.pool import Pool
from eqfuzz.triage.findings.versions import versions

PROGRAMS = "programs"

_LEFT_OUT = ("integers", "audit", "draws")
"""Weights that are integers are no model's, and a wrong submodule says more than an operator's audit."""

AGREES, DIFFERS, KNOWN, NOT_COMPARABLE = "agrees", "differs", "known issue", "not comparable"
UNSUPPORTED, NOTHING_COMPILED, INVALID, NOT_TRIED = "unsupported", "nothing compiled", "invalid", "not tried"

_ORDER = (DIFFERS, KNOWN, NOT_COMPARABLE, UNSUPPORTED, NOTHING_COMPILED, AGREES)
"""Outcomes of cells, the one that decides for the use first."""

_LONGEST_MESSAGE = 300

_SUBMODULE_SECONDS = 300.0

_MODEL = "model."
"""What the names of submodules begin with in a program."""


def check_settings(settings: Settings, variants: int) -> Settings:
    """Settings of a check with so many rewritten ``variants``, in the first configuration and with dynamic sizes."""
    config = settings.configs[0]
    dynamic = config.model_copy(update={"name": f"{config.name}-dynamic", "dynamic": True})
    return dataclasses.replace(
        settings,
        rewriting=RewriteSettings(strategy="random" if variants else "none", variants=variants),
        checks=tuple(name for name in settings.checks if name not in _LEFT_OUT),
        seed_configs={DYNAMIC: dynamic},
    )


def check_model(model: GatheredModel, settings: Settings, handler: Handler) -> ModelCheckSummary:
    """Check a class or function of the user's project; the last event is returned. ``settings`` have no paths.

    The variants are those of forward and backward. Ctrl-C and the time limit end it early: what was not tried is named.
    Raises InvalidSeed, UsageError, RunnerFailed.
    """
    began = time.monotonic()
    reference = model.reference
    check_folders(settings)
    folder = settings.out / PROGRAMS
    try:
        model.write_recorded(folder)
        files = {use: model.write(use, folder / f"{reference.name}-{use.name}.py") for use in model.uses}
    except OSError as error:
        raise UsageError(f"--out: {folder}: {error.strerror}") from None
    variants = settings.rewriting.variants
    handler(
        ModelCheckStarted(
            model=str(reference),
            definitions=len(model.bundle.definitions),
            modules=list(model.bundle.modules),
            uses=[use.title for use in files],
            variants=variants,
            out=str(settings.out),
            versions=versions(),
        )
    )
    log = _CheckLog(handler)
    others = tuple(path for use, path in files.items() if use is not FORWARD)
    clock = _Clock(settings.time)
    summaries: list[Summary] = []
    submodule, is_interrupted = "", False
    try:
        summaries.append(run(clock.settings(settings, paths=(files[FORWARD],)), log.handle))
        forward = log.checked(FORWARD.title, files[FORWARD], variants=False)
        differs = forward.outcome == DIFFERS
        if differs and model.function is None and not _has_ended(summaries[0]):
            names = _submodules(files[FORWARD], settings)
            search = _SubmoduleSearch(model, names, forward.kind, settings, log, clock)
            submodule = search.run()
            summaries += search.summaries
        if not any(summary.interrupted for summary in summaries) and not clock.is_over:
            # Where forward differs the place of its fault is known, and that of the others most likely the same.
            checks = tuple(name for name in settings.checks if not (differs and name in AFTERWARDS))
            plain = RewriteSettings(strategy="none", variants=0)
            summaries.append(run(clock.settings(settings, paths=others, rewriting=plain, checks=checks), log.handle))
    except KeyboardInterrupt:
        is_interrupted = True  # between two runs
    checked = [log.checked(use.title, path, variants=False) for use, path in files.items()]
    checked[0] = dataclasses.replace(checked[0], submodule=submodule)
    if variants:
        checked.append(log.checked(f"variants of {FORWARD.title}", files[FORWARD], variants=True))
    summary = ModelCheckSummary(
        model=str(reference),
        uses=checked,
        findings=sum(one.outcome == DIFFERS for one in checked),
        errors=[error for summary in summaries for error in summary.errors],
        interrupted=is_interrupted or any(summary.interrupted for summary in summaries),
        out_of_time=clock.is_over or any(summary.out_of_time for summary in summaries),
        seconds=round(time.monotonic() - began, 3),
        out=str(settings.out),
    )
    handler(summary)
    return summary


class _Clock:
    """The time of the whole check; ``seconds`` is None without a limit."""

    def __init__(self, seconds: float | None) -> None:
        self._end = None if seconds is None else time.monotonic() + seconds

    @property
    def is_over(self) -> bool:
        return self._end is not None and time.monotonic() >= self._end

    def settings(self, settings: Settings, *, longest: float = math.inf, **changes: Any) -> Settings:
        """The settings of a run that ends with the check, and after ``longest`` seconds."""
        left = math.inf if self._end is None else max(1.0, self._end - time.monotonic())
        seconds = min(left, longest)
        return dataclasses.replace(settings, time=None if seconds == math.inf else seconds, **changes)


def _has_ended(summary: Summary) -> bool:
    """Whether a run was ended early."""
    return summary.interrupted or summary.out_of_time


def _submodules(path: Path, settings: Settings) -> tuple[str, ...]:
    """Dotted names of the submodules that a call of the model runs; empty where the program cannot be run."""
    with Pool(settings.environment(), Limits(), jobs=1, warm=False) as pool:
        _, answer = answer_of(path, lambda program: StructureJob(program=program, seed=settings.seed), pool)
    names = () if isinstance(answer, str) else answer.structure.submodules
    return tuple(name.removeprefix(_MODEL) for name in names if name.startswith(_MODEL))


class _SubmoduleSearch:
    """Descends from the model to the smallest submodule that differs by itself: at each level the first that does.

    ``kind`` is the kind of the difference.
    """

    def __init__(
        self,
        model: GatheredModel,
        names: Sequence[str],
        kind: str,
        settings: Settings,
        log: _CheckLog,
        clock: _Clock,
    ) -> None:
        self.summaries: list[Summary] = []
        self._model = model
        self._names = names
        self._kind = kind
        self._settings = dataclasses.replace(
            settings,
            rewriting=RewriteSettings(strategy="none", variants=0),
            judging=OracleSettings(steps=0, input_sets=1),
            checks=ORACLES,
            guard_steps=0,
            own_random=False,
        )
        self._log = log
        self._clock = clock

    def run(self) -> str:
        """Its name; empty where no submodule differs, or the time ran out before one did."""
        smallest = ""
        while children := self._children(smallest):
            different = self._first_different(children)
            if not different:
                break
            smallest = different
        return smallest

    def _children(self, parent: str) -> list[str]:
        """The outermost submodules that ran inside ``parent``."""
        inside = [name for name in self._names if not parent or name.startswith(f"{parent}.")]
        return [name for name in inside if not any(name.startswith(f"{other}.") for other in inside)]

    def _first_different(self, names: Sequence[str]) -> str:
        folder = self._settings.out / PROGRAMS
        for name in names:
            if self._clock.is_over:
                break
            use = ModelUse.of_submodule(name)
            path = self._model.write(use, folder / f"{self._model.reference.name}-{use.name}.py")
            limited = self._clock.settings(self._settings, paths=(path,), longest=_SUBMODULE_SECONDS)
            summary = run(limited, self._log.note)
            self.summaries.append(summary)
            if summary.interrupted:
                break
            checked = self._log.checked(use.title, path, variants=False)
            if checked.outcome == DIFFERS and checked.kind == self._kind:
                return name
        return ""


class _CheckLog:
    """What the runs have said about each program."""

    def __init__(self, handler: Handler) -> None:
        self._handler = handler
        self._programs = 0
        """Programs of the runs that have ended: the numbers of the next run's come after them."""
        self._names: dict[int, str] = {}
        """The program of each number of the run."""
        self._cells: dict[str, list[_CheckedCell]] = {}
        self._unconfirmed: dict[str, list[_CheckedCell]] = {}
        """The cells that the next finding of a program is about."""
        self._invalid: dict[str, str] = {}
        self._seconds: dict[str, float] = {}

    def handle(self, event: Event) -> None:
        """Note an event and hand it on, unless it is the summary of a run."""
        self.note(event)
        if isinstance(event, Summary):
            self._programs += event.seeds
            return
        index = getattr(event, "index", None)
        self._handler(event if index is None else dataclasses.replace(event, index=self._programs + index))

    def note(self, event: Event) -> None:
        """Note an event of a run that is not reported."""
        match event:
            case SeedStarted():
                self._names[event.index] = event.seed
            case CellJudged() if event.config:
                cell = _CheckedCell(event)
                self._cells.setdefault(event.seed, []).append(cell)
                if event.verdict.is_finding:
                    self._unconfirmed.setdefault(event.seed, []).append(cell)
            case FindingReported():
                # A finding of an earlier run has the name that its program had there.
                for cell in self._unconfirmed.pop(self._names[event.index], []):
                    cell.finding = event
            case SeedInvalid():
                self._invalid[event.seed] = event.reason
            case SeedDone():
                self._seconds[event.seed] = event.cpu_seconds
            case _:
                pass

    def checked(self, title: str, path: Path, *, variants: bool) -> UseChecked:
        """What came of the original, or of its ``variants``."""
        name = str(path)
        cells = [cell for cell in self._cells.get(name, []) if bool(cell.event.variant) is variants]
        seconds = 0.0 if variants else round(self._seconds.get(name, 0.0), 3)
        if name in self._invalid and not variants:
            return UseChecked(title=title, outcome=INVALID, message=self._invalid[name], seconds=seconds)
        if not cells or (name not in self._seconds and not any(cell.finding for cell in cells)):
            return UseChecked(title=title, outcome=NOT_TRIED)
        gravest = min(cells, key=lambda cell: _ORDER.index(cell.outcome))
        finding = gravest.finding
        return UseChecked(
            title=title,
            outcome=gravest.outcome,
            cells=len(cells),
            graphs=sum((cell.event.compiled or {}).get("graphs", 0) for cell in cells),
            message="" if gravest.outcome in (AGREES, NOTHING_COMPILED) else _in_words(gravest.event.verdict),
            kind=str(gravest.event.verdict.kind),
            finding=finding.finding.id if finding is not None else "",
            issue=finding.issue if finding is not None else "",
            seconds=seconds,
        )


@dataclasses.dataclass
class _CheckedCell:
    """A cell, and the finding that was confirmed for it."""

    event: CellJudged
    finding: FindingReported | None = None

    @property
    def outcome(self) -> str:
        if self.finding is not None:
            return KNOWN if self.finding.issue else DIFFERS
        kind = self.event.verdict.kind
        if kind is VerdictKind.AGREE:
            compiled = self.event.compiled
            return NOTHING_COMPILED if compiled is not None and not compiled.get("graphs") else AGREES
        return UNSUPPORTED if kind is VerdictKind.UNSUPPORTED else NOT_COMPARABLE


def _in_words(verdict: Verdict) -> str:
    return one_line(f"{verdict.kind}: {verdict.in_words}", _LONGEST_MESSAGE)
