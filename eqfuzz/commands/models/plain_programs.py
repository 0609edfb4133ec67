"""A difference of a model as a short program: its exported graph with drawn weights and inputs, reduced."""

from __future__ import annotations

import dataclasses
import tempfile
from pathlib import Path

from eqfuzz.commands.models.check_clock import CheckClock
from eqfuzz.commands.seeds.each_seed import answer_alone
from eqfuzz.errors import UsageError
from eqfuzz.events.event import Event
from eqfuzz.events.run import FindingReported, SeedInvalid
from eqfuzz.imports.models import ImportOptions, import_model
from eqfuzz.mutate.run import run
from eqfuzz.mutate.settings import RewriteSettings, Settings
from eqfuzz.oracle.compare.checks import AFTERWARDS
from eqfuzz.program.formats import read_program
from eqfuzz.program.program import InvalidSeed
from eqfuzz.run.messages.export_jobs import ExportJob
from eqfuzz.run.protocol import RunnerFailed
from eqfuzz.triage.findings.finding import Finding
from eqfuzz.triage.reduce.finding_reducer import NotReduced
from eqfuzz.triage.reduce.in_place import InPlaceReduction

_SECONDS = 120.0


@dataclasses.dataclass(frozen=True)
class PlainFinding:
    """A finding with inputs and large parameters of the same shapes and spread; of private ones it has nothing else.

    ``problem`` says why it is not reduced; empty where it is.
    """

    finding: Finding
    problem: str = ""


def plain_finding(seed: Path, kind: str, settings: Settings, clock: CheckClock) -> PlainFinding | str:
    """A smaller finding with the same ``kind`` of difference as ``seed``; in its place, why there is none.

    It is a run below the folder of ``settings``. Raises KeyboardInterrupt.
    """
    try:
        plain = _exported(seed, settings)
        return plain if isinstance(plain, str) else _reduced(plain, kind, settings, clock)
    except (InvalidSeed, UsageError, RunnerFailed, OSError) as error:
        return str(error)


def _reduced(plain: Path, kind: str, settings: Settings, clock: CheckClock) -> PlainFinding | str:
    reported: list[FindingReported] = []
    problems: list[str] = []

    def note(event: Event) -> None:
        if isinstance(event, SeedInvalid):
            problems.append(event.reason)
        if isinstance(event, FindingReported) and event.finding.verdict.kind == kind:
            reported.append(event)

    alone = dataclasses.replace(
        settings,
        paths=(plain,),
        time=clock.left(_SECONDS),
        rewriting=RewriteSettings(strategy="none", variants=0),
        checks=tuple(name for name in settings.checks if name not in AFTERWARDS),
    )
    summary = run(alone, note)
    if summary.interrupted:
        raise KeyboardInterrupt
    if summary.errors:
        return summary.errors[0]
    if not reported:
        unchanged = "with drawn weights and inputs its graph does not differ"
        return problems[0] if problems else "out of time" if summary.out_of_time else unchanged
    event = reported[0]
    if clock.is_over:
        return PlainFinding(event.finding, problem="out of time")
    seconds = clock.left(_SECONDS)
    reduction = InPlaceReduction(
        event.finding, Path(event.folder), settings.out, lambda _: None, seconds=seconds, jobs=settings.jobs
    )
    try:
        return PlainFinding(reduction.run())
    except (NotReduced, RunnerFailed, OSError) as error:
        return PlainFinding(event.finding, problem=str(error))


def _exported(seed: Path, settings: Settings) -> Path | str:
    """The seed's graph as another seed beside it; in its place, why there is none."""
    with tempfile.TemporaryDirectory(prefix="eqfuzz-export-") as folder:
        file = Path(folder) / f"{seed.stem}-plain.pt2"
        answer = answer_alone(
            seed,
            lambda program: ExportJob(program=program, seed=settings.seed, file=str(file)),
            settings.environment(),
        )
        if isinstance(answer, str):
            return answer
        if answer.problem:
            return f"it cannot be exported: {answer.problem}"
        private = read_program(seed).private
        options = ImportOptions(drawn=True, gradients=True, unsafe=True, private=private)
        return import_model(file, seed.parent, options).path
