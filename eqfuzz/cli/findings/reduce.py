"""``eqfuzz reduce``: make a finding smaller while it stays the same finding."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING

import typer

from eqfuzz.cli.exit_codes import CLEAN, FINDINGS, VerbFailed
from eqfuzz.cli.findings.lookup import buckets_in, finding_in, folder_of
from eqfuzz.cli.options.common import OUT, EventFormat, Jobs, OutputFormat, RunFolder, Time
from eqfuzz.cli.options.findings import Candidate, FindingId
from eqfuzz.cli.options.values import job_count, seconds_of
from eqfuzz.errors import UsageError

if TYPE_CHECKING:
    from eqfuzz.triage.findings.finding import Finding
    from eqfuzz.triage.reduce.finding_reducer import ReductionTry

DEFAULT_TIME = "10m"


def reduce(
    id: FindingId,
    out: RunFolder = OUT,
    time: Time = DEFAULT_TIME,
    jobs: Jobs = None,
    candidate: Candidate = None,
    format: EventFormat = OutputFormat.TEXT,
) -> None:
    """Reduce a finding to a smaller program.

    First its rewrites (delta debugging), then the program, then the configuration. The reduced finding replaces the
    finding, which is kept in its folder as unreduced/. An interrupted reduction is resumed. --candidate is for other
    reducers.

    Exit codes: 0 reduced, 2 no such finding or file, 3 no longer reproduces, 130 interrupted. With --candidate: 0 same
    finding, 1 not.
    """
    folder = folder_of(id, out)
    seconds = seconds_of(time or DEFAULT_TIME, "--time")

    from eqfuzz.program.program import InvalidSeed
    from eqfuzz.report.terminal import make_console
    from eqfuzz.report.verbs.reduce import ReductionCurve, print_reduced
    from eqfuzz.run.protocol import RunnerFailed
    from eqfuzz.triage.reduce.finding_reducer import NotReduced
    from eqfuzz.triage.reduce.in_place import InPlaceReduction, shows_finding

    finding = finding_in(folder)
    workers = job_count(jobs)
    console = make_console()
    try:
        if candidate is not None:
            raise typer.Exit(CLEAN if shows_finding(finding, folder, out, candidate) else FINDINGS)
        if format is OutputFormat.JSON:
            smaller = InPlaceReduction(finding, folder, out, _print_tried, seconds=seconds, jobs=workers).run()
        else:
            with ReductionCurve(console) as curve:
                smaller = InPlaceReduction(finding, folder, out, curve.take, seconds=seconds, jobs=workers).run()
    except InvalidSeed as error:
        raise UsageError(str(error)) from None
    except BrokenPipeError:
        raise
    except (NotReduced, RunnerFailed, OSError) as error:
        raise VerbFailed(f"{folder.name}: {error}") from None
    if format is OutputFormat.JSON:
        print(json.dumps(_summary(smaller, str(folder))))
    else:
        bucket = buckets_in(out).of(smaller) if smaller.fingerprint else ""
        print_reduced(console, smaller, str(folder), str(out), bucket)


def _summary(finding: Finding, folder: str) -> dict[str, object]:
    return {
        "event": "summary",
        "id": finding.id,
        "folder": folder,
        "derivation": [dataclasses.asdict(step) for step in finding.derivation],
        "reduced": dataclasses.asdict(finding.reduced) if finding.reduced is not None else None,
    }


def _print_tried(tried: ReductionTry) -> None:
    print(json.dumps({"event": "tried", **dataclasses.asdict(tried)}), flush=True)
