"""``eqfuzz coverage``: which statements of torch programs run."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import typer

from eqfuzz.cli.exit_codes import code_of
from eqfuzz.cli.exit_handling import exit_code_of_long_run
from eqfuzz.cli.loading_notice import loading_notice
from eqfuzz.cli.options.common import (
    OUT,
    EventFormat,
    Jobs,
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
from eqfuzz.cli.options.compiling import ConfigNames, ConfigsFrom, Steps
from eqfuzz.cli.options.measuring import CoverageCatalogues, CoverageTemplates, TemplateCount
from eqfuzz.cli.options.rewriting import Depth, Rules, RulesFrom, Strategy, StrategyOption, Variants
from eqfuzz.cli.options.values import configs_of, job_count, seconds_of, split_names, time_limit

if TYPE_CHECKING:
    from eqfuzz.commands.coverage_sources import PlannedProgram
    from eqfuzz.events.event import Handler
    from eqfuzz.mutate.settings import Settings

CHART = "coverage.svg"
CONFIGS = ("inductor", "inductor-dynamic", "inductor-scalar-outputs")
"""Which alternate from program to program where none is named."""


def coverage(
    paths: OptionalSeedPaths = None,
    template: CoverageTemplates = None,
    catalogue: CoverageCatalogues = None,
    count: TemplateCount = 20,
    strategy: StrategyOption = Strategy.NONE,
    depth: Depth = 4,
    variants: Variants = 1,
    rules: Rules = "",
    rules_from: RulesFrom = None,
    config: ConfigNames = None,
    configs_from: ConfigsFrom = None,
    steps: Steps = 1,
    seed: RandomSeed = 0,
    jobs: Jobs = None,
    time: Time = None,
    out: Out = OUT,
    format: EventFormat = OutputFormat.TEXT,
    quiet: Quiet = False,
    preload: Preload = None,
    timeout: Timeout = "180",
    untrusted: Untrusted = False,
    unsafe: Unsafe = False,
) -> None:
    """Measure which statements of torch programs run.

    Of all Python files below torch/, importing included, for each source: files, templates of random programs,
    catalogues of PyTorch's tests; without any of them the shipped seeds and all templates. Every program runs in eager
    and compiled, backward included. Configurations alternate from program to program. Results are kept in
    DIR/coverage.jsonl: the same command resumes. The curves are DIR/coverage.svg.

    Exit codes: 0 measured, 2 usage or bad input, 3 internal error, 130 interrupted.
    """
    chosen = configs_of(config if config or configs_from else list(CONFIGS), configs_from)

    from eqfuzz.commands.coverage_sources import catalogue_requests, planned_programs
    from eqfuzz.mutate.settings import CompileSettings, OracleSettings, RewriteSettings, Settings

    settings = Settings(
        paths=tuple(paths or ()),
        out=out,
        seed=seed,
        jobs=job_count(jobs),
        time=time_limit(time),
        rewriting=RewriteSettings(
            strategy=strategy.value, depth=depth, variants=variants, rules=rules, rules_from=tuple(rules_from or ())
        ),
        compiling=CompileSettings(timeout=seconds_of(timeout, "--timeout"), preload=preload),
        judging=OracleSettings(steps=steps),
        configs=chosen,
        untrusted=untrusted,
        unsafe=unsafe,
    )
    raise typer.Exit(
        exit_code_of_long_run(
            lambda: _coverage(
                settings,
                lambda handle: planned_programs(
                    settings.paths,
                    split_names(template),
                    catalogue_requests(split_names(catalogue), out, seed, settings.jobs),
                    count,
                    handle,
                ),
                as_json=format is OutputFormat.JSON,
                quiet=quiet,
            ),
            stopped=f"figures so far are in {out}",
            errors_in=out,
        )
    )


def _coverage(
    settings: Settings, plan: Callable[[Handler], list[PlannedProgram]], *, as_json: bool, quiet: bool
) -> int:
    with loading_notice():
        from eqfuzz.commands.measure_coverage import measure_coverage
    from eqfuzz.events.coverage import CoverageStarted, TraceStarted
    from eqfuzz.events.event import Event
    from eqfuzz.report.machine.json_lines import JsonLines
    from eqfuzz.report.terminal import make_console
    from eqfuzz.report.verbs.coverage import CoverageReport, write_curves

    report = JsonLines(sys.stdout) if as_json else CoverageReport(make_console(), quiet=quiet)
    started: list[CoverageStarted] = []

    def handle(event: Event) -> None:
        if isinstance(event, CoverageStarted):
            started.append(event)
        if not (as_json and isinstance(event, TraceStarted)):
            report.handle(event)

    with report:
        summary = measure_coverage(settings, plan(handle), handle)
    chart = settings.out / CHART
    write_curves(chart, started[0], summary)
    if not (as_json or quiet):
        print(f"curves: {chart}")
    return code_of(interrupted=summary.interrupted, findings=False)
