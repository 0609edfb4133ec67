"""``eqfuzz compare``: pools of seeds, mutated and judged for the same CPU time."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import typer

from eqfuzz.cli.exit_codes import code_of
from eqfuzz.cli.exit_handling import exit_code_of_long_run
from eqfuzz.cli.loading_notice import loading_notice
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
    Timeout,
    Unsafe,
    Untrusted,
)
from eqfuzz.cli.options.compiling import AddedChecks, ConfigNames, ConfigsFrom, RemovedChecks, Steps
from eqfuzz.cli.options.measuring import ComparedPools, PoolTime
from eqfuzz.cli.options.rewriting import Depth, Rules, RulesFrom, Strategy, StrategyOption, Variants
from eqfuzz.cli.options.values import (
    BadOption,
    checks_of,
    configs_of,
    job_count,
    known_issues_of,
    seconds_of,
    split_names,
    time_limit,
)

if TYPE_CHECKING:
    from eqfuzz.mutate.settings import Settings


def compare(
    pool: ComparedPools,
    time: PoolTime = "10m",
    strategy: StrategyOption = Strategy.RANDOM,
    depth: Depth = 4,
    variants: Variants = 2,
    rules: Rules = "",
    rules_from: RulesFrom = None,
    config: ConfigNames = None,
    configs_from: ConfigsFrom = None,
    steps: Steps = 1,
    check: AddedChecks = None,
    no_check: RemovedChecks = None,
    seed: RandomSeed = 0,
    jobs: Jobs = None,
    out: Out = OUT,
    format: EventFormat = OutputFormat.TEXT,
    quiet: Quiet = False,
    preload: Preload = None,
    timeout: Timeout = "90",
    known_issues: KnownIssueFiles = None,
    no_known_issues: NoKnownIssues = False,
    untrusted: Untrusted = False,
    unsafe: Unsafe = False,
) -> None:
    """Compare pools of seeds at equal CPU time.

    The seeds of each pool are rewritten and judged in rounds; the pool that has used least is next. Shows validity,
    throughput, lines of the compiler that ran, distinct findings and defective cells by kind. --check speed adds the
    second oracle: compiled is not slower. Results are kept in DIR/compare.jsonl: the same command resumes, and a longer
    --time continues. The curves are DIR/compare-coverage.svg and DIR/compare-findings.svg.

    Exit codes: 0 compared, 2 usage or bad input, 3 internal error, 130 interrupted.
    """
    names = list(dict.fromkeys(split_names(pool)))
    if len(names) < 2:
        raise BadOption("--pool", "name two pools at least: folders of seeds, or default for the shipped seeds")
    budget = time_limit(time)
    assert budget is not None
    configs = configs_of(config, configs_from)
    checks = checks_of(check, no_check)

    from eqfuzz.mutate.settings import CompileSettings, OracleSettings, RewriteSettings, Settings

    settings = Settings(
        out=out,
        seed=seed,
        jobs=job_count(jobs),
        rewriting=RewriteSettings(
            strategy=strategy.value, depth=depth, variants=variants, rules=rules, rules_from=tuple(rules_from or ())
        ),
        compiling=CompileSettings(timeout=seconds_of(timeout, "--timeout"), preload=preload),
        judging=OracleSettings(steps=steps),
        configs=configs,
        checks=checks,
        known_issues=known_issues_of(known_issues, no_known_issues),
        untrusted=untrusted,
        unsafe=unsafe,
    )
    raise typer.Exit(
        exit_code_of_long_run(
            lambda: _compare(settings, names, budget, as_json=format is OutputFormat.JSON, quiet=quiet),
            stopped=f"results so far are in {out}",
            errors_in=out,
        )
    )


def _compare(settings: Settings, names: list[str], budget: float, *, as_json: bool, quiet: bool) -> int:
    with loading_notice():
        from eqfuzz.commands.compare_pools import compare_pools, compared_pools
    from eqfuzz.events.comparison import ComparisonStarted
    from eqfuzz.events.event import Event
    from eqfuzz.report.machine.json_lines import JsonLines
    from eqfuzz.report.terminal import make_console
    from eqfuzz.report.verbs.compare import ComparisonReport, write_charts

    report = JsonLines(sys.stdout) if as_json else ComparisonReport(make_console(), quiet=quiet)
    started: list[ComparisonStarted] = []

    def handle(event: Event) -> None:
        if isinstance(event, ComparisonStarted):
            started.append(event)
        report.handle(event)

    pools = compared_pools(names)
    with report:
        summary = compare_pools(settings, pools, budget, handle)
    charts = write_charts(settings.out, started[0], summary)
    if charts and not (as_json or quiet):
        print(f"curves: {', '.join(map(str, charts))}")
    return code_of(interrupted=summary.interrupted, findings=False, errors=summary.errors)
