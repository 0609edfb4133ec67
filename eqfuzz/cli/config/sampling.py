"""``eqfuzz config tuples`` and ``eqfuzz config random``: seeds under sampled compile configurations."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from eqfuzz.cli.exit_handling import exit_code_of_long_run
from eqfuzz.cli.options.common import (
    OUT,
    EventFormat,
    Jobs,
    KnownIssueFiles,
    NoKnownIssues,
    Out,
    OutputFormat,
    Preload,
    Quiet,
    RandomSeed,
    SeedPaths,
    Time,
    Timeout,
)
from eqfuzz.cli.options.compiling import (
    Attempts,
    InputSets,
    Module,
    ModuleOption,
    MostConfigs,
    OnlyOptions,
    Probability,
    Steps,
    TupleSize,
)
from eqfuzz.cli.options.reports import Reports, report_targets
from eqfuzz.cli.options.values import job_count, known_issues_of, seconds_of, split_names, time_limit
from eqfuzz.cli.run_reporting import report_run

if TYPE_CHECKING:
    from eqfuzz.commands.fuzz_configs import SamplingPlan
    from eqfuzz.mutate.settings import Settings
    from eqfuzz.report.machine.report_format import ReportTarget


def tuples(
    paths: SeedPaths,
    n: TupleSize = 2,
    max: MostConfigs = 100,
    module: ModuleOption = Module.BOTH,
    only: OnlyOptions = None,
    seed: RandomSeed = 0,
    jobs: Jobs = None,
    time: Time = None,
    out: Out = OUT,
    format: EventFormat = OutputFormat.TEXT,
    quiet: Quiet = False,
    report: Reports = None,
    preload: Preload = None,
    timeout: Timeout = "90",
    steps: Steps = 1,
    input_sets: InputSets = 0,
    known_issues: KnownIssueFiles = None,
    no_known_issues: NoKnownIssues = False,
) -> None:
    """Change N options at a time.

    Every configuration runs in a process of its own and is judged as by `eqfuzz mutate`. Results are kept in
    DIR/config-state.json: the same command resumes where it stopped.

    Exit codes: 0 nothing found, 1 findings, 2 usage or bad input, 3 internal error, 130 interrupted.
    """
    from eqfuzz.commands.fuzz_configs import SamplingPlan

    plan = SamplingPlan("tuples", _modules(module), tuple(split_names(only)), n=n, limit=max)
    issues, reports = known_issues_of(known_issues, no_known_issues), report_targets(report)
    settings = _settings(paths, seed, jobs, time, out, preload, timeout, steps, input_sets, issues)
    raise typer.Exit(_fuzz(plan, settings, reports, as_json=format is OutputFormat.JSON, quiet=quiet))


def random(
    paths: SeedPaths,
    attempts: Attempts = 20,
    p: Probability = 0.1,
    module: ModuleOption = Module.BOTH,
    only: OnlyOptions = None,
    seed: RandomSeed = 0,
    jobs: Jobs = None,
    time: Time = None,
    out: Out = OUT,
    format: EventFormat = OutputFormat.TEXT,
    quiet: Quiet = False,
    report: Reports = None,
    preload: Preload = None,
    timeout: Timeout = "90",
    steps: Steps = 1,
    input_sets: InputSets = 0,
    known_issues: KnownIssueFiles = None,
    no_known_issues: NoKnownIssues = False,
) -> None:
    """Change many options at a time, to random values.

    `eqfuzz config bisect` then names the options that matter. Otherwise as `eqfuzz config tuples`.

    Exit codes: 0 nothing found, 1 findings, 2 usage or bad input, 3 internal error, 130 interrupted.
    """
    from eqfuzz.commands.fuzz_configs import SamplingPlan

    plan = SamplingPlan("random", _modules(module), tuple(split_names(only)), attempts=attempts, p=p)
    issues, reports = known_issues_of(known_issues, no_known_issues), report_targets(report)
    settings = _settings(paths, seed, jobs, time, out, preload, timeout, steps, input_sets, issues)
    raise typer.Exit(_fuzz(plan, settings, reports, as_json=format is OutputFormat.JSON, quiet=quiet))


def _modules(module: Module) -> tuple[str, ...]:
    return ("inductor", "dynamo") if module is Module.BOTH else (str(module),)


def _settings(
    paths: list[Path],
    seed: int,
    jobs: int | None,
    time: str | None,
    out: Path,
    preload: Path | None,
    timeout: str,
    steps: int,
    input_sets: int,
    known_issues: tuple[Path, ...],
) -> Settings:
    from eqfuzz.mutate.settings import CompileSettings, OracleSettings, Settings

    return Settings(
        paths=tuple(paths),
        out=out,
        seed=seed,
        jobs=job_count(jobs),
        time=time_limit(time),
        compiling=CompileSettings(timeout=seconds_of(timeout, "--timeout"), preload=preload),
        judging=OracleSettings(steps=steps, input_sets=input_sets),
        known_issues=known_issues,
        guard_steps=0,
        own_random=False,
    )


def _fuzz(
    plan: SamplingPlan, settings: Settings, reports: Sequence[ReportTarget], *, as_json: bool, quiet: bool
) -> int:
    from eqfuzz.commands.fuzz_configs import run

    return exit_code_of_long_run(
        lambda: report_run(
            settings,
            lambda handler: run(settings, plan, handler),
            as_json=as_json,
            quiet=quiet,
            reports=reports,
        ),
        stopped=f"findings so far are in {settings.out}",
        errors_in=settings.out,
    )
