"""The check of one model: each use of it, and rewritten variants, compiled and compared with eager."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from eqfuzz.commands.seeds.each_seed import answer_of
from eqfuzz.errors import one_line
from eqfuzz.events.event import Event, Handler
from eqfuzz.events.model_check import ModelCheckStarted, ModelCheckSummary, UseChecked
from eqfuzz.events.run import CellJudged, FindingReported, SeedDone, SeedInvalid, Summary
from eqfuzz.imports.model_uses import FORWARD, ModelUse
from eqfuzz.imports.python_models import GatheredModel, PythonReference, gather
from eqfuzz.mutate.run import run
from eqfuzz.mutate.settings import OracleSettings, RewriteSettings, Settings
from eqfuzz.oracle.compare.checks import AFTERWARDS, ORACLES
from eqfuzz.oracle.compare.verdict import Verdict, VerdictKind
from eqfuzz.run.limits import Limits
from eqfuzz.run.messages.structure_jobs import StructureJob
from eqfuzz.run.processes.pool import Pool
from eqfuzz.triage.findings.versions import versions

PROGRAMS = "programs"

AGREES, DIFFERS, KNOWN, NOT_COMPARABLE = "agrees", "differs", "known issue", "not comparable"
UNSUPPORTED, INVALID, NOT_TRIED = "unsupported", "invalid", "not tried"

_LONGEST_MESSAGE = 300

_MODEL = "model."
"""What the names of submodules begin with in a program."""


def check_model(
    reference: PythonReference, construct: str, inputs: Sequence[str], settings: Settings, handler: Handler
) -> ModelCheckSummary:
    """Check a class or function of the user's package; the last event is returned. ``settings`` have no paths.

    The variants are those of forward and backward. Ctrl-C and the time limit end it early: what was not tried is named.
    Raises NotGathered, InvalidSeed, UsageError, RunnerFailed.
    """
    began = time.monotonic()
    model = gather(reference, construct, inputs)
    folder = settings.out / PROGRAMS
    files = {use: model.write(use, folder / f"{reference.name}-{use.name}.py") for use in model.uses}
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
    summaries = [run(clock.settings(settings, paths=(files[FORWARD],)), log.handle)]
    differs = log.checked(FORWARD.title, files[FORWARD], variants=False).outcome == DIFFERS
    submodule, is_interrupted = "", summaries[0].interrupted
    if differs and model.function is None and not _has_ended(summaries[0]):
        names = _submodules(files[FORWARD], settings)
        search = _SubmoduleSearch(model, names, settings, log, clock)
        submodule, is_interrupted = search.run(), search.is_interrupted
    if not is_interrupted and not clock.is_over:
        # Where forward differs the place of its fault is known, and that of the others most likely the same.
        checks = tuple(name for name in settings.checks if not (differs and name in AFTERWARDS))
        plain = RewriteSettings(strategy="none", variants=0)
        summaries.append(run(clock.settings(settings, paths=others, rewriting=plain, checks=checks), log.handle))
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

    def settings(self, settings: Settings, **changes: Any) -> Settings:
        """The settings of a run that ends with the check."""
        left = None if self._end is None else max(1.0, self._end - time.monotonic())
        return dataclasses.replace(settings, time=left, **changes)


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
    """Descends from the model to the smallest submodule that differs by itself: at each level the first that does."""

    def __init__(
        self, model: GatheredModel, names: Sequence[str], settings: Settings, log: _CheckLog, clock: _Clock
    ) -> None:
        self._model = model
        self._names = names
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
        self.is_interrupted = False

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
            summary = run(self._clock.settings(self._settings, paths=(path,)), self._log.handle)
            if summary.interrupted:
                self.is_interrupted = True
                break
            if self._log.checked(use.title, path, variants=False).outcome in (DIFFERS, KNOWN):
                return name
        return ""


class _CheckLog:
    """What the runs have said about each program; every event is handed on, but for their summaries."""

    def __init__(self, handler: Handler) -> None:
        self._handler = handler
        self._programs = 0
        """Programs of the runs that have ended: the numbers of the next run's come after them."""
        self._cells: dict[str, list[CellJudged]] = {}
        self._findings: dict[str, list[FindingReported]] = {}
        self._invalid: dict[str, str] = {}
        self._seconds: dict[str, float] = {}

    def handle(self, event: Event) -> None:
        match event:
            case CellJudged() if event.config:
                self._cells.setdefault(event.seed, []).append(event)
            case FindingReported():
                self._findings.setdefault(event.finding.original.name, []).append(event)
            case SeedInvalid():
                self._invalid[event.seed] = event.reason
            case SeedDone():
                self._seconds[event.seed] = event.cpu_seconds
            case _:
                pass
        if isinstance(event, Summary):
            self._programs += event.seeds
            return
        index = getattr(event, "index", None)
        self._handler(event if index is None else dataclasses.replace(event, index=self._programs + index))

    def checked(self, title: str, path: Path, *, variants: bool) -> UseChecked:
        """What came of the original, or of its ``variants``."""
        name = str(path)
        cells = [cell for cell in self._cells.get(name, []) if bool(cell.variant) is variants]
        findings = [one for one in self._findings.get(name, []) if bool(one.finding.derivation) is variants]
        new = [one for one in findings if not one.issue]
        seconds = 0.0 if variants else round(self._seconds.get(name, 0.0), 3)
        if name in self._invalid and not variants:
            return UseChecked(title=title, outcome=INVALID, message=self._invalid[name], seconds=seconds)
        if findings:
            first = (new or findings)[0]
            return UseChecked(
                title=title,
                outcome=DIFFERS if new else KNOWN,
                cells=len(cells),
                message=_in_words(first.finding.verdict),
                finding=first.finding.id,
                issue=first.issue,
                seconds=seconds,
            )
        if not cells or name not in self._seconds:
            return UseChecked(title=title, outcome=NOT_TRIED)
        outcome, verdict = _gravest(cells)
        message = "" if outcome == AGREES else _in_words(verdict)
        return UseChecked(title=title, outcome=outcome, cells=len(cells), message=message, seconds=seconds)


_OUTCOMES: Mapping[VerdictKind, str] = {VerdictKind.AGREE: AGREES, VerdictKind.UNSUPPORTED: UNSUPPORTED}


def _gravest(cells: Sequence[CellJudged]) -> tuple[str, Verdict]:
    """Outcome and verdict of the cell that says least for the use."""
    order = (NOT_COMPARABLE, UNSUPPORTED, AGREES)
    outcomes = [(_OUTCOMES.get(cell.verdict.kind, NOT_COMPARABLE), cell.verdict) for cell in cells]
    return min(outcomes, key=lambda pair: order.index(pair[0]))


def _in_words(verdict: Verdict) -> str:
    return one_line(f"{verdict.kind}: {verdict.in_words}", _LONGEST_MESSAGE)
