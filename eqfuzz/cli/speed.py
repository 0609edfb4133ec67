"""``eqfuzz speed``: time seeds and their variants, in eager and compiled."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from eqfuzz.cli.exit_codes import USAGE, code_of, complain
from eqfuzz.cli.exit_handling import exit_code_of_long_run
from eqfuzz.cli.loading_notice import loading_notice
from eqfuzz.cli.options.common import (
    OUT,
    EventFormat,
    Out,
    OutputFormat,
    Preload,
    Quiet,
    RandomSeed,
    SeedPaths,
    Time,
    Timeout,
    Unsafe,
    Untrusted,
)
from eqfuzz.cli.options.compiling import ConfigsFrom, OneConfig
from eqfuzz.cli.options.measuring import OneJob, TimedRules, TimedSeconds
from eqfuzz.cli.options.rewriting import Depth, RulesFrom, Strategy, StrategyOption, Variants
from eqfuzz.cli.options.values import BadOption, configs_of, seconds_of, time_limit

if TYPE_CHECKING:
    from eqfuzz.mutate.settings import Settings

CHART = "speed.svg"


def speed(
    paths: SeedPaths,
    strategy: StrategyOption = Strategy.ALL,
    depth: Depth = 4,
    variants: Variants = 1,
    rules: TimedRules = "paper",
    rules_from: RulesFrom = None,
    config: OneConfig = "inductor",
    configs_from: ConfigsFrom = None,
    seconds: TimedSeconds = 1.0,
    seed: RandomSeed = 0,
    jobs: OneJob = None,
    time: Time = None,
    out: Out = OUT,
    format: EventFormat = OutputFormat.TEXT,
    quiet: Quiet = False,
    preload: Preload = None,
    timeout: Timeout = "90",
    untrusted: Untrusted = False,
    unsafe: Unsafe = False,
) -> None:
    """Time seeds and variants, eager and compiled.

    The four programs of a seed run in turn in one process, so that other load slows all alike; still, leave the machine
    to it. A variant whose compiled form is steadily slower than its original's, by more than twice and more than noise
    explains, is measured again and reported. The chart is DIR/speed.svg.

    Exit codes: 0 nothing slow, 1 a slow variant, 2 usage or no valid seed, 3 internal error, 130 interrupted.
    """
    if jobs not in (None, 1):
        raise BadOption("--jobs", "programs that are timed at once slow each other: leave it out")
    chosen = configs_of([config], configs_from)
    if len(chosen) != 1:
        raise BadOption("--config", "one configuration at a time")

    from eqfuzz.mutate.settings import CompileSettings, RewriteSettings, Settings

    settings = Settings(
        paths=tuple(paths),
        out=out,
        seed=seed,
        time=time_limit(time),
        rewriting=RewriteSettings(
            strategy=strategy.value, depth=depth, variants=variants, rules=rules, rules_from=tuple(rules_from or ())
        ),
        compiling=CompileSettings(timeout=seconds_of(timeout, "--timeout"), preload=preload),
        configs=chosen,
        untrusted=untrusted,
        unsafe=unsafe,
    )
    raise typer.Exit(
        exit_code_of_long_run(
            lambda: _speed(settings, seconds, as_json=format is OutputFormat.JSON, quiet=quiet),
            stopped="the report is not complete",
            errors_in=out,
        )
    )


def _speed(settings: Settings, seconds: float, *, as_json: bool, quiet: bool) -> int:
    with loading_notice():
        from eqfuzz.commands.measure_speed import measure_speed
    from eqfuzz.events.event import Event
    from eqfuzz.events.speed import SeedTimed, SpeedStarted, TimingStarted
    from eqfuzz.report.machine.json_lines import JsonLines
    from eqfuzz.report.terminal import make_console
    from eqfuzz.report.verbs.speed import SpeedReport, write_chart

    report = JsonLines(sys.stdout) if as_json else SpeedReport(make_console(), quiet=quiet)
    started: list[SpeedStarted] = []
    seeds: list[SeedTimed] = []

    def handle(event: Event) -> None:
        if isinstance(event, SpeedStarted):
            started.append(event)
        elif isinstance(event, SeedTimed):
            seeds.append(event)
        if not (as_json and isinstance(event, TimingStarted)):
            report.handle(event)

    with report:
        summary = measure_speed(settings, seconds, handle)
    chart: Path = settings.out / CHART
    if write_chart(chart, started[0], seeds) and not (as_json or quiet):
        print(f"chart: {chart}")
    if seeds and not summary.timed and not summary.interrupted:
        first = next((p.problem for p in seeds[0].programs if p.problem), seeds[0].problem)
        complain(f"no seed could be timed: {seeds[0].path}: {first}")
        return USAGE
    return code_of(interrupted=summary.interrupted, findings=summary.slow > 0)
