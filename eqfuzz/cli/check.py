"""``eqfuzz check``: whether a model of one's own computes the same compiled."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eqfuzz.cli.exit_codes import USAGE, code_of, complain
from eqfuzz.cli.exit_handling import exit_code_of_long_run
from eqfuzz.cli.loading_notice import loading_notice
from eqfuzz.cli.options.common import (
    EventFormat,
    Jobs,
    KnownIssueFiles,
    NoKnownIssues,
    OutputFormat,
    Preload,
    Quiet,
    RandomSeed,
    Timeout,
    Unsafe,
)
from eqfuzz.cli.options.compiling import ConfigsFrom, Device, Devices, SweepConfig
from eqfuzz.cli.options.findings import WithValues
from eqfuzz.cli.options.reports import Reports, report_targets
from eqfuzz.cli.options.seeds import Construct, InputSets
from eqfuzz.cli.options.values import (
    configs_of,
    job_count,
    known_issues_of,
    require_cuda,
    seconds_of,
    time_limit,
)

if TYPE_CHECKING:
    from eqfuzz.commands.models.target import CheckedModel
    from eqfuzz.mutate.settings import Settings
    from eqfuzz.report.machine.report_format import ReportTarget

OUT = Path("eqfuzz-out")

Target = Annotated[
    str,
    typer.Argument(
        metavar="TARGET",
        help="A class or function, package.module:Name or FILE.py:Name; a recording, a seed, or a model: "
        "FILE.recording, FILE.py, FILE.pt2, FILE.onnx.",
    ),
]
CheckVariants = Annotated[
    int, typer.Option("--variants", min=0, help="Rewritten variants of the model's source that are compared too.")
]
CheckTime = Annotated[str, typer.Option("--time", metavar="TIME", help="Stop after this long: 90, 10m, 1h30m.")]
CheckFolder = Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder for everything that is written.")]


def check(
    target: Target,
    inputs: InputSets = None,
    construct: Construct = "",
    variants: CheckVariants = 3,
    config: SweepConfig = None,
    configs_from: ConfigsFrom = None,
    device: Devices = None,
    time: CheckTime = "5m",
    timeout: Timeout = "180",
    seed: RandomSeed = 0,
    jobs: Jobs = None,
    preload: Preload = None,
    known_issues: KnownIssueFiles = None,
    no_known_issues: NoKnownIssues = False,
    unsafe: Unsafe = False,
    with_values: WithValues = False,
    out: CheckFolder = OUT,
    format: EventFormat = OutputFormat.TEXT,
    quiet: Quiet = False,
    report: Reports = None,
) -> None:
    """Check that a model computes the same compiled.

    The class or function is gathered with all that it needs of your project, in one file for each use: forward and
    backward, evaluation, a training step, autocast, dynamic sizes. Each is compared with eager, as are variants of
    forward and backward with equal rewrites applied. Your files are not changed. What was not tried is named.

    Exit codes: 0 nothing found but known issues, 1 it differs, 2 usage or a model that cannot be used, 3 internal
    error, 130 interrupted.
    """
    from eqfuzz.mutate.settings import CompileSettings, Settings

    devices = tuple(dict.fromkeys(device or [Device.CPU]))
    if Device.CUDA in devices:
        require_cuda()
    settings = Settings(
        out=out,
        seed=seed,
        jobs=job_count(jobs),
        time=time_limit(time),
        compiling=CompileSettings(
            timeout=seconds_of(timeout, "--timeout"), preload=preload, devices=tuple(member.value for member in devices)
        ),
        configs=configs_of([config] if config else None, configs_from),
        known_issues=known_issues_of(known_issues, no_known_issues),
        unsafe=unsafe,
    )
    chosen = tuple(inputs or ())
    reports = report_targets(report)

    def run() -> int:
        with loading_notice():
            from eqfuzz.commands.models.check_model import MODELS, check_settings
            from eqfuzz.commands.models.target import model_of
        model = model_of(target, construct, chosen, out / MODELS, unsafe=unsafe, with_values=with_values)
        return _check(model, check_settings(settings, variants), format is OutputFormat.JSON, quiet, reports)

    raise typer.Exit(exit_code_of_long_run(run, stopped=f"findings so far are in {out}", errors_in=out))


def _check(model: CheckedModel, settings: Settings, as_json: bool, quiet: bool, reports: Sequence[ReportTarget]) -> int:
    from eqfuzz.commands.models.check_log import unusable
    from eqfuzz.commands.models.check_model import check_model
    from eqfuzz.events.event import to_all
    from eqfuzz.report.machine.json_lines import JsonLines
    from eqfuzz.report.machine.report_files import ReportFiles
    from eqfuzz.report.terminal import make_console
    from eqfuzz.report.verbs.model_check import ModelCheckReport

    report = JsonLines(sys.stdout) if as_json else ModelCheckReport(make_console(), quiet=quiet)
    with ReportFiles(reports) as files, report:
        summary = check_model(model, settings, to_all(report.handle, files.handle))
    reason = unusable(summary.uses)
    if reason and not summary.errors and not summary.interrupted:
        complain(f"{model.title} cannot be used: {reason}")
        return USAGE
    return code_of(interrupted=summary.interrupted, findings=summary.findings > 0, errors=summary.errors)
