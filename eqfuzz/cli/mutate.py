"""``eqfuzz mutate``: seeds in, equal programs out, four cells compared, findings reported."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eqfuzz.cli import logs
from eqfuzz.cli.exit_codes import USAGE, complain
from eqfuzz.cli.exit_handling import ended
from eqfuzz.cli.options import BadOption, OutputFormat, checks_of, configs_of, new_file, seconds_of
from eqfuzz.cli.rules.library import RulesFrom
from eqfuzz.cli.run_reporting import reported

if TYPE_CHECKING:
    from eqfuzz.mutate.settings import Settings


class Strategy(StrEnum):
    EACH = "each"
    RANDOM = "random"
    ALL = "all"
    NONE = "none"


class Device(StrEnum):
    CPU = "cpu"
    CUDA = "cuda"


class Runner(StrEnum):
    FAST = "fast"
    STOCK = "stock"
    SPAWN = "spawn"


class LogLevel(StrEnum):
    DEBUG = "DEBUG"
    INFO = "INFO"
    WARNING = "WARNING"
    ERROR = "ERROR"


def mutate(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="PATHS...", help="Seed files and folders of seed files (default: the shipped seeds)."),
    ] = None,
    strategy: Annotated[
        Strategy,
        typer.Option(
            help="each: one rewrite per variant; random: up to --depth; all: every match at once; "
            "none: seeds as they are."
        ),
    ] = Strategy.EACH,
    depth: Annotated[int, typer.Option(min=1, help="Rewrites per variant at most (random).")] = 4,
    variants: Annotated[int, typer.Option(min=0, help="Variants per seed at most; 0: with each, every one.")] = 5,
    rules: Annotated[
        str, typer.Option(metavar="SELECTION", help="Families and names: 'shapes/*,-shapes/flip*' (default: all).")
    ] = "",
    rules_from: RulesFrom = None,
    device: Annotated[list[Device] | None, typer.Option(help="Device to run on; repeatable (default: cpu).")] = None,
    config: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Compile configuration; repeatable, comma lists, 'all' (default: inductor)."),
    ] = None,
    configs_from: Annotated[
        Path | None, typer.Option(metavar="FILE", help="TOML file with more configurations ([configs.NAME] tables).")
    ] = None,
    threaded: Annotated[
        float,
        typer.Option(min=0, max=1, metavar="SHARE", help="Share of seeds compiled once more, for several threads."),
    ] = 0.25,
    seed: Annotated[int, typer.Option(help="Decides every random choice.")] = 0,
    jobs: Annotated[int | None, typer.Option(min=1, help="Seeds run at once (default: one per core).")] = None,
    time: Annotated[str | None, typer.Option(metavar="TIME", help="Stop after this long: 90, 10m, 1h.")] = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Everything a run writes lands here.")] = Path("eqfuzz-out"),
    format: Annotated[
        OutputFormat, typer.Option(help="json: one event per line, the summary last.")
    ] = OutputFormat.TEXT,
    quiet: Annotated[bool, typer.Option("--quiet", help="Only findings, a line each, and the totals.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Compile nothing: seeds run in eager, then their variants.")
    ] = False,
    diff: Annotated[
        bool,
        typer.Option(
            "--diff",
            help="With --dry-run: show all sites and the variants as diffs; only seeds run, in eager.",
        ),
    ] = False,
    log_level: Annotated[
        LogLevel, typer.Option(case_sensitive=False, help="Log to stderr; DEBUG tells step timings.")
    ] = LogLevel.WARNING,
    preload: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Python file run in every process that imports torch.")
    ] = None,
    runner: Annotated[
        Runner, typer.Option(help="fast: kernels of many cells built together; stock: each as torch does.")
    ] = (Runner.FAST),
    timeout: Annotated[str, typer.Option(metavar="TIME", help="Wall limit of one compiled cell.")] = "90",
    check: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Check this too (speed); repeatable, comma lists.")
    ] = None,
    no_check: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Leave this out (prints, guards, …); repeatable.")
    ] = None,
    steps: Annotated[
        int,
        typer.Option(min=0, help="Changes of size, dtype, flags, modes … that each compiled original is called on."),
    ] = 1,
    input_sets: Annotated[
        int, typer.Option(min=0, help="Input sets of a seed that are used, from the first; 0: all.")
    ] = 0,
    keep_variants: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write variants that equal their seed in eager here, as seed files."),
    ] = None,
    known_issues: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="More known issues, counted apart (default: ./known-issues.toml)."),
    ] = None,
    no_known_issues: Annotated[
        bool, typer.Option("--no-known-issues", help="Count every finding as new, those of the shipped list too.")
    ] = False,
    junit: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the result as JUnit XML too, a test case for each seed.")
    ] = None,
    untrusted: Annotated[
        bool,
        typer.Option("--untrusted", help="Run all seeds in the sandbox, not only those that a language model wrote."),
    ] = False,
    unsafe: Annotated[
        bool,
        typer.Option("--unsafe", help="Where there can be no sandbox, run untrusted seeds without (default: refuse)."),
    ] = False,
) -> None:
    """Rewrite seeds and compare eager with compiled.

    Exit codes: 0 nothing found but known issues, 1 findings, 2 usage or bad input, 3 internal error or a broken
    installation, 130 interrupted.
    """
    logs.start(log_level)
    try:
        limit = seconds_of(time, "--time") if time is not None else None
        compile_seconds = seconds_of(timeout, "--timeout")
        configs = configs_of(config or [], configs_from)
        checks = checks_of(check or [], no_check or [])
        new_file("--junit", junit)
    except BadOption as error:
        complain(str(error))
        raise typer.Exit(USAGE) from None
    if diff and not dry_run:
        complain("--diff: it shows what would run, so it goes with --dry-run")
        raise typer.Exit(USAGE)
    devices = tuple(dict.fromkeys(str(d) for d in device or [Device.CPU]))
    if "cuda" in devices and not _has_cuda():
        complain("--device cuda: torch finds no CUDA device here; leave it out, or see `eqfuzz doctor`")
        raise typer.Exit(USAGE)

    from eqfuzz.mutate.settings import Settings
    from eqfuzz.program.shipped import folder
    from eqfuzz.triage.findings.known_issues import known_issue_files

    settings = Settings(
        paths=tuple(paths) if paths else (folder("seeds"),),
        out=out,
        seed=seed,
        strategy=str(strategy),
        depth=depth,
        variants=variants,
        rules=rules,
        devices=devices,
        configs=configs,
        jobs=jobs or len(os.sched_getaffinity(0)),
        time=limit,
        preload=preload,
        runner=str(runner),
        threaded=threaded,
        compile_seconds=compile_seconds,
        dry_run=dry_run,
        rules_from=tuple(rules_from or ()),
        diff=diff,
        checks=checks,
        steps=steps,
        input_sets=input_sets,
        keep_variants=keep_variants,
        known_issues=() if no_known_issues else known_issue_files(known_issues or []),
        untrusted=untrusted,
        unsafe=unsafe,
    )
    raise typer.Exit(
        ended(
            lambda: _run(settings, as_json=format is OutputFormat.JSON, quiet=quiet, junit=junit),
            stopped=f"what was found is in {out}",
            keep=out,
        )
    )


def _run(settings: Settings, *, as_json: bool, quiet: bool, junit: Path | None) -> int:
    from eqfuzz.mutate.run import run

    return reported(settings, lambda handler: run(settings, handler), as_json=as_json, quiet=quiet, junit=junit)


def _has_cuda() -> bool:
    import torch

    return torch.cuda.is_available()
