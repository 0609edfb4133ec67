"""``eqfuzz replay``: run the reproducers of findings again."""

from __future__ import annotations

import dataclasses
import json
import sys
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import typer

from eqfuzz.cli.exit_codes import CLEAN, FINDINGS, INTERNAL
from eqfuzz.cli.findings.lookup import all_findings, buckets_in, folder_of, interpreter_of
from eqfuzz.cli.options.common import OUT, EventFormat, Jobs, OutputFormat, RunFolder
from eqfuzz.cli.options.findings import AllFindings, Interpreters, OfBucket, OptionalFindingId
from eqfuzz.cli.options.values import job_count
from eqfuzz.errors import UsageError

if TYPE_CHECKING:
    from rich.console import Console

    from eqfuzz.program.release import Release
    from eqfuzz.triage.confirm.replay import ReplayOutcome


def replay(
    id: OptionalFindingId = None,
    out: RunFolder = OUT,
    python: Interpreters = None,
    all: AllFindings = False,
    bucket: OfBucket = "",
    jobs: Jobs = None,
    format: EventFormat = OutputFormat.TEXT,
) -> None:
    """Run findings again: FIXED or STILL FAILING.

    Each reproducer runs in a fresh process; ERROR means that the reproducer itself failed. Several findings or
    interpreters are shown as a table: one row per bucket, one column per torch.

    Exit codes: 0 all fixed, 1 some still failing, 2 no such finding or interpreter, 3 a reproducer itself failed.
    """
    chosen = _chosen(id, out, everything=all, bucket=bucket)
    interpreters = dict(interpreter_of(name) for name in python or [sys.executable])

    from eqfuzz.report.live_display import LiveRenderer
    from eqfuzz.report.progress import ProgressCounter
    from eqfuzz.report.terminal import make_console
    from eqfuzz.run.sandbox.launcher import SandboxUnavailable, require_level
    from eqfuzz.triage.confirm.replay import ERROR, STILL_FAILING
    from eqfuzz.triage.findings.folder import is_untrusted

    try:
        if any(is_untrusted(one.folder) for one in chosen):
            require_level()
    except SandboxUnavailable as error:
        raise UsageError(str(error)) from None
    console = make_console()
    replayed: list[_ReplayResult] = []
    if format is OutputFormat.JSON:
        for one in _replays(chosen, interpreters, jobs):
            replayed.append(one)
            print(json.dumps(_event(one)), flush=True)
        print(json.dumps(_summary(replayed, interpreters)))
    elif id is not None and len(interpreters) == 1:
        replayed += _replays(chosen, interpreters, jobs)
        _print(console, replayed[0])
    else:
        progress = ProgressCounter("scripts", len(chosen) * len(interpreters))
        with LiveRenderer(console, progress):
            for one in _replays(chosen, interpreters, jobs):
                replayed.append(one)
                progress.advance()
        _print_table(console, chosen, replayed, interpreters)
    statuses = {one.outcome.status for one in replayed}
    raise typer.Exit(INTERNAL if ERROR in statuses else FINDINGS if STILL_FAILING in statuses else CLEAN)


@dataclasses.dataclass(frozen=True)
class _ReplayTarget:
    """A finding to replay: the bucket whose row it is part of (empty: a row of its own), and the row's description."""

    folder: Path
    bucket: str
    about: str

    @property
    def row(self) -> str:
        return self.bucket or self.folder.name


class _ReplayResult(NamedTuple):
    chosen: _ReplayTarget
    python: str
    release: Release
    outcome: ReplayOutcome


def _chosen(id: str | None, out: Path, *, everything: bool, bucket: str) -> list[_ReplayTarget]:
    """The findings to replay, those of the largest bucket first. Raises UsageError."""
    if sum((id is not None, everything, bool(bucket))) != 1:
        raise UsageError("give one of ID, --all and --bucket; see `eqfuzz replay --help`")
    if id is not None:
        folder = folder_of(id, out)
        return [_ReplayTarget(folder, "", textwrap.shorten(_described(folder), 100))]
    buckets = buckets_in(out)
    chosen: list[_ReplayTarget] = []
    for finding in all_findings(out):
        name = buckets.of(finding) if finding.fingerprint else ""
        about = f"{finding.verdict.kind} {finding.original.name}"
        if name:
            about = buckets.all[name].fingerprint if name in buckets.all else finding.fingerprint
        if everything or (name and name.startswith(bucket)):
            chosen.append(_ReplayTarget(out / "findings" / finding.id, name, about))
    if not chosen:
        raise UsageError(f"no finding {'in' if everything else f'of bucket {bucket!r} in'} {out}")
    sizes = Counter(one.bucket for one in chosen)
    return sorted(chosen, key=lambda one: (not one.bucket, -sizes[one.bucket], one.bucket, one.folder.name))


def _replays(
    chosen: Sequence[_ReplayTarget], interpreters: Mapping[str, Release], jobs: int | None
) -> Iterator[_ReplayResult]:
    """Each finding with each interpreter, in that order."""
    from eqfuzz.triage.confirm.replay import replay as run_reproducer

    pairs = [(one, python) for one in chosen for python in interpreters]
    with ThreadPoolExecutor(job_count(jobs)) as threads:
        outcomes = threads.map(lambda pair: run_reproducer(pair[0].folder, pair[1]), pairs)
        for (one, python), outcome in zip(pairs, outcomes, strict=True):
            yield _ReplayResult(one, python, interpreters[python], outcome)


def _event(one: _ReplayResult) -> dict[str, object]:
    return {
        "event": "replayed",
        "id": one.chosen.folder.name,
        "bucket": one.chosen.bucket,
        "status": one.outcome.status,
        "python": one.python,
        **one.release.to_versions(),
        "found_with": str(_found_with(one.chosen.folder)),
        "output": one.outcome.output,
    }


def _summary(replayed: Sequence[_ReplayResult], interpreters: Mapping[str, Release]) -> dict[str, object]:
    by_interpreter = [
        {
            "python": python,
            **release.to_versions(),
            **Counter(one.outcome.status for one in replayed if one.python == python),
        }
        for python, release in interpreters.items()
    ]
    return {
        "event": "summary",
        "interpreters": by_interpreter,
        **Counter(one.outcome.status for one in replayed),
    }


def _print(console: Console, one: _ReplayResult) -> None:
    """What the reproducer printed, and the outcome."""
    from rich.text import Text

    from eqfuzz.report.formatting import printable
    from eqfuzz.report.verbs.replay import STYLES

    for line in one.outcome.output.strip().splitlines():
        console.print(Text(f"  {printable(line)}", style="dim"), soft_wrap=True)
    folder, origin, status = one.chosen.folder, _found_with(one.chosen.folder), one.outcome.status
    is_other = origin.release and (origin.release, origin.build or one.release.build) != (
        one.release.release,
        one.release.build,
    )
    versions = f"  torch {one.release}" + (f" (found with {origin})" if is_other else "")
    line = Text.assemble((status, STYLES[status]), f"  {folder.name}", (versions, "dim"), f"  {_described(folder)}")
    console.print(line, soft_wrap=True)


def _print_table(
    console: Console,
    chosen: Sequence[_ReplayTarget],
    replayed: Sequence[_ReplayResult],
    interpreters: Mapping[str, Release],
) -> None:
    """One row per bucket; below it the counts of each interpreter, and the errors of reproducers."""
    from rich.text import Text

    from eqfuzz.report.formatting import printable
    from eqfuzz.report.verbs.replay import STYLES, ReplayRow, column_heads, in_words, print_outcomes
    from eqfuzz.triage.confirm.replay import ERROR

    heads = dict(zip(interpreters, column_heads(list(interpreters.values())), strict=True))
    rows = []
    for name, about in {one.row: one.about for one in chosen}.items():
        group = [one for one in replayed if one.chosen.row == name]
        statuses = tuple(tuple(one.outcome.status for one in group if one.python == python) for python in heads)
        rows.append(ReplayRow(name, about, statuses))
    print_outcomes(console, list(heads.values()), rows)
    for python, head in heads.items():
        counts = in_words([one.outcome.status for one in replayed if one.python == python])
        where = f"  {printable(python)}" if len(set(interpreters.values())) < len(interpreters) else ""
        console.print(Text.assemble((head, "bold"), f": {counts}", (where, "dim")), soft_wrap=True)
    for one in replayed:
        if one.outcome.status == ERROR:
            why = (one.outcome.output.strip().splitlines() or ["it printed nothing"])[-1]
            line = f"  {one.chosen.folder.name}  {heads[one.python]}: {printable(why)}"
            console.print(Text.assemble((ERROR, STYLES[ERROR]), line), soft_wrap=True)


def _found_with(folder: Path) -> Release:
    """The torch that the finding was found with; an empty release if its folder does not say."""
    from eqfuzz.program.release import Release

    file = folder / "environment.json"
    try:
        return Release.from_versions(json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {})
    except (ValueError, AttributeError):
        return Release("")


def _described(folder: Path) -> str:
    """``wrong-result: message``; empty for a folder that holds a reproducer alone."""
    file = folder / "verdict.json"
    if not file.is_file():
        return ""
    try:
        verdict = json.loads(file.read_text(encoding="utf-8"))
        return " ".join(f"{verdict['kind']}: {verdict['message']}".split())
    except (ValueError, KeyError, TypeError) as error:
        return f"({file} cannot be read: {error})"
