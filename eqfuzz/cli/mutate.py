"""``eqfuzz mutate``: rewrite seeds, compare eager with compiled, report findings."""

from __future__ import annotations

import typer

from eqfuzz.cli import logs
from eqfuzz.cli.exit_handling import exit_code_of_long_run
from eqfuzz.cli.loading_notice import loading_notice
from eqfuzz.cli.options.common import (
    OUT,
    EventFormat,
    Jobs,
    KnownIssueFiles,
    LogLevel,
    LogLevelOption,
    NoKnownIssues,
    OptionalSeedPaths,
    Out,
    OutputFormat,
    Preload,
    Quiet,
    RandomSeed,
    Time,
    Timeout,
    Unsafe,
    Untrusted,
)
from eqfuzz.cli.options.compiling import (
    AddedChecks,
    ConfigNames,
    ConfigsFrom,
    Device,
    Devices,
    GraphsFirst,
    InputSets,
    RemovedChecks,
    Runner,
    RunnerOption,
    Steps,
    Threaded,
)
from eqfuzz.cli.options.reports import Reports, report_targets
from eqfuzz.cli.options.rewriting import (
    Depth,
    DryRun,
    KeepVariants,
    Rules,
    RulesFrom,
    ShowDiff,
    Strategy,
    StrategyOption,
    Variants,
)
from eqfuzz.cli.options.values import (
    BadOption,
    checks_of,
    configs_of,
    job_count,
    known_issues_of,
    require_cuda,
    seconds_of,
    seed_configs_of,
    time_limit,
)
from eqfuzz.cli.run_reporting import report_run


def mutate(
    paths: OptionalSeedPaths = None,
    strategy: StrategyOption = Strategy.EACH,
    depth: Depth = 4,
    variants: Variants = 5,
    rules: Rules = "",
    rules_from: RulesFrom = None,
    device: Devices = None,
    config: ConfigNames = None,
    configs_from: ConfigsFrom = None,
    threaded: Threaded = 0.25,
    seed: RandomSeed = 0,
    jobs: Jobs = None,
    time: Time = None,
    out: Out = OUT,
    format: EventFormat = OutputFormat.TEXT,
    quiet: Quiet = False,
    dry_run: DryRun = False,
    diff: ShowDiff = False,
    log_level: LogLevelOption = LogLevel.WARNING,
    preload: Preload = None,
    runner: RunnerOption = Runner.FAST,
    timeout: Timeout = "90",
    check: AddedChecks = None,
    no_check: RemovedChecks = None,
    steps: Steps = 1,
    input_sets: InputSets = 0,
    keep_variants: KeepVariants = None,
    known_issues: KnownIssueFiles = None,
    no_known_issues: NoKnownIssues = False,
    report: Reports = None,
    untrusted: Untrusted = False,
    unsafe: Unsafe = False,
    graphs_first: GraphsFirst = False,
) -> None:
    """Rewrite seeds; compare eager with compiled.

    Exit codes: 0 nothing found but known issues, 1 findings, 2 usage or bad input, 3 internal error or a broken
    installation, 130 interrupted.
    """
    logs.start(log_level)
    limit = time_limit(time)
    compile_seconds = seconds_of(timeout, "--timeout")
    configs = configs_of(config, configs_from)
    checks = checks_of(check, no_check)
    reports = report_targets(report)
    if diff and not dry_run:
        raise BadOption("--diff", "it shows what would run, so it goes with --dry-run")
    devices = tuple(dict.fromkeys(device or [Device.CPU]))
    if Device.CUDA in devices:
        require_cuda()

    with loading_notice():
        from eqfuzz.mutate.run import run
    from eqfuzz.mutate.settings import CompileSettings, OracleSettings, RewriteSettings, Settings
    from eqfuzz.program.shipped import folder

    settings = Settings(
        paths=tuple(paths) if paths else (folder("seeds"),),
        out=out,
        seed=seed,
        rewriting=RewriteSettings(
            strategy=strategy.value, depth=depth, variants=variants, rules=rules, rules_from=tuple(rules_from or ())
        ),
        compiling=CompileSettings(
            threaded=threaded,
            devices=tuple(member.value for member in devices),
            timeout=compile_seconds,
            runner=runner.value,
            preload=preload,
        ),
        graphs_first=graphs_first,
        judging=OracleSettings(steps=steps, input_sets=input_sets),
        configs=configs,
        seed_configs=seed_configs_of(config, configs_from),
        checks=checks,
        jobs=job_count(jobs),
        time=limit,
        dry_run=dry_run,
        diff=diff,
        keep_variants=keep_variants,
        known_issues=known_issues_of(known_issues, no_known_issues),
        untrusted=untrusted,
        unsafe=unsafe,
    )
    as_json = format is OutputFormat.JSON
    raise typer.Exit(
        exit_code_of_long_run(
            lambda: report_run(settings, lambda h: run(settings, h), as_json=as_json, quiet=quiet, reports=reports),
            stopped=f"findings so far are in {out}",
            errors_in=out,
        )
    )
