"""``eqfuzz diff``: what differs between two torches."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eqfuzz.cli import logs
from eqfuzz.cli.exit_codes import code_of
from eqfuzz.cli.exit_handling import exit_code_of_long_run
from eqfuzz.cli.findings.lookup import interpreter_of
from eqfuzz.cli.loading_notice import loading_notice
from eqfuzz.cli.options.common import (
    EventFormat,
    Jobs,
    KnownIssueFiles,
    LogLevel,
    LogLevelOption,
    NoKnownIssues,
    OutputFormat,
    Quiet,
    RandomSeed,
    Time,
    Timeout,
    Unsafe,
    Untrusted,
)
from eqfuzz.cli.options.compiling import ConfigNames, ConfigsFrom, Device, Devices
from eqfuzz.cli.options.reports import Reports, report_targets
from eqfuzz.cli.options.values import BadOption, configs_of, job_count, known_issues_of, seconds_of, time_limit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from eqfuzz.commands.regressions.compare_torches import DiffRequest
    from eqfuzz.report.machine.report_format import ReportTarget

ComparedPaths = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="PATHS",
        help="Seed files, stand-alone scripts that exit with 1 where they show a defect, and folders of both "
        "(default: the shipped regressions, and in a checkout the scripts of defects).",
    ),
]
TwoInterpreters = Annotated[
    list[str],
    typer.Option("--python", metavar="INTERPRETER", help="Python with the torch to compare: base, then head."),
]
ChangedFiles = Annotated[
    Path | None,
    typer.Option(
        "--changed",
        metavar="FILE",
        help="A diff of torch, or a list of its files, one a line: programs that run changed lines come first.",
    ),
]
DiffFolder = Annotated[
    Path, typer.Option("--out", metavar="DIR", help="Folder for everything that is written; the same one resumes.")
]

OUT = Path("eqfuzz-diff")
_LEFT_OUT = ("audit", "draws")
"""Checks that only explain a finding."""


def diff(
    python: TwoInterpreters,
    paths: ComparedPaths = None,
    changed: ChangedFiles = None,
    config: ConfigNames = None,
    configs_from: ConfigsFrom = None,
    device: Devices = None,
    seed: RandomSeed = 0,
    jobs: Jobs = None,
    time: Time = None,
    timeout: Timeout = "90",
    known_issues: KnownIssueFiles = None,
    no_known_issues: NoKnownIssues = False,
    untrusted: Untrusted = False,
    unsafe: Unsafe = False,
    out: DiffFolder = OUT,
    format: EventFormat = OutputFormat.TEXT,
    quiet: Quiet = False,
    report: Reports = None,
    log_level: LogLevelOption = LogLevel.WARNING,
) -> None:
    """Find regressions between two torches.

    Every program runs, as it is, with both; the findings of either are put in buckets, and the stand-alone script of
    each bucket runs with both: new, fixed, still, or unclear. Results are kept in DIR/diff.jsonl, so the same command
    resumes where it stopped, and a release that was compared before is not run again.

    Exit codes: 0 no new bucket but known issues, 1 new buckets, 2 usage or bad input, 3 internal error, 130
    interrupted.
    """
    logs.start(log_level)
    if len(python) != 2:
        raise BadOption("--python", f"give it twice, base and then head, not {len(python)} times")
    base, head = (interpreter_of(name) for name in python)
    if base[0] == head[0]:
        raise BadOption("--python", f"{base[0]}: named for both")
    reports = report_targets(report)
    devices = list(dict.fromkeys(device or [Device.CPU]))
    configs = configs_of(config, configs_from)
    limit, compile_seconds = time_limit(time), seconds_of(timeout, "--timeout")

    with loading_notice():
        from eqfuzz.commands.regressions.compare_torches import DiffRequest
    from eqfuzz.commands.regressions.changed_lines import read_changes
    from eqfuzz.commands.regressions.worker import WorkerJob
    from eqfuzz.oracle.compare.checks import DEFAULT_CHECKS

    request = DiffRequest(
        base=base,
        head=head,
        paths=tuple(paths) if paths else _default_paths(),
        job=WorkerJob(
            out=out,
            paths=[],
            seed=seed,
            jobs=job_count(jobs),
            time=limit,
            timeout=compile_seconds,
            configs=[config.model_dump(mode="json") for config in configs],
            devices=[member.value for member in devices],
            checks=[name for name in DEFAULT_CHECKS if name not in _LEFT_OUT],
            untrusted=untrusted,
        ),
        changes=read_changes(changed) if changed is not None else {},
        known_issues=known_issues_of(known_issues, no_known_issues),
        unsafe=unsafe,
    )
    as_json = format is OutputFormat.JSON
    raise typer.Exit(
        exit_code_of_long_run(
            lambda: _compare(request, reports, as_json=as_json, quiet=quiet),
            stopped=f"results so far are in {out}; the same command resumes",
            errors_in=out,
        )
    )


def _default_paths() -> tuple[Path, ...]:
    from eqfuzz.program.shipped import folder

    seeds = folder("seeds")
    scripts = seeds.parent / "docs" / "findings"
    return (seeds / "regressions", *([scripts] if scripts.is_dir() else []))


def _compare(request: DiffRequest, reports: Sequence[ReportTarget], *, as_json: bool, quiet: bool) -> int:
    from eqfuzz.commands.regressions.compare_torches import compare_torches
    from eqfuzz.events.event import to_all
    from eqfuzz.report.machine.json_lines import JsonLines
    from eqfuzz.report.machine.report_files import ReportFiles
    from eqfuzz.report.terminal import make_console
    from eqfuzz.report.verbs.diff import DiffReport

    report = JsonLines(sys.stdout) if as_json else DiffReport(make_console(), quiet=quiet)
    with ReportFiles(reports) as files, report:
        summary = compare_torches(request, to_all(logs.log_event, report.handle, files.handle))
    return code_of(interrupted=summary.interrupted, findings=summary.new > 0, errors=summary.errors)
