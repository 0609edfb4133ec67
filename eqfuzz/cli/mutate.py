"""``eqfuzz mutate``: seeds in, equal programs out, four cells compared, findings reported."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eqfuzz.cli import logs
from eqfuzz.cli.exits import CLEAN, FINDINGS, INTERNAL, INTERRUPTED, USAGE, complain
from eqfuzz.cli.options import configs_of, seconds_of

if TYPE_CHECKING:
    from eqfuzz.campaign.events import Event, Summary
    from eqfuzz.campaign.settings import Settings


class Strategy(StrEnum):
    EACH = "each"
    RANDOM = "random"
    ALL = "all"


class Device(StrEnum):
    CPU = "cpu"
    CUDA = "cuda"


class Runner(StrEnum):
    FORK = "fork"
    SPAWN = "spawn"


class Format(StrEnum):
    TEXT = "text"
    JSON = "json"


class LogLevel(StrEnum):
    DEBUG = "DEBUG"
    INFO = "INFO"
    WARNING = "WARNING"
    ERROR = "ERROR"


def mutate(
    paths: Annotated[list[Path], typer.Argument(metavar="PATHS...", help="Seed files and folders of seed files.")],
    strategy: Annotated[
        Strategy, typer.Option(help="each: one rewrite per variant; random: up to --depth; all: every match at once.")
    ] = Strategy.EACH,
    depth: Annotated[int, typer.Option(min=1, help="Rewrites per variant at most (random).")] = 4,
    variants: Annotated[int, typer.Option(min=0, help="Variants per seed at most.")] = 12,
    rules: Annotated[
        str, typer.Option(metavar="SELECTION", help="Rules by name: 'shape/*,-shape/flip*' (default: all).")
    ] = "",
    device: Annotated[list[Device] | None, typer.Option(help="Device to run on; repeatable (default: cpu).")] = None,
    config: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Compile configuration; repeatable, comma lists, 'all' (default: inductor)."),
    ] = None,
    configs_from: Annotated[
        Path | None, typer.Option(metavar="FILE", help="TOML file with more configurations ([configs.NAME] tables).")
    ] = None,
    seed: Annotated[int, typer.Option(help="Decides every random choice.")] = 0,
    jobs: Annotated[int | None, typer.Option(min=1, help="Seeds run at once (default: one per core).")] = None,
    time: Annotated[str | None, typer.Option(metavar="TIME", help="Stop after this long: 90, 10m, 1h.")] = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Everything a run writes lands here.")] = Path("eqfuzz-out"),
    format: Annotated[Format, typer.Option(help="json: one event per line, the summary last.")] = Format.TEXT,
    quiet: Annotated[bool, typer.Option("--quiet", help="Only findings, a line each, and the totals.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Load, probe and rewrite; compile nothing.")] = False,
    log_level: Annotated[
        LogLevel, typer.Option(case_sensitive=False, help="Log to stderr; DEBUG tells step timings.")
    ] = LogLevel.WARNING,
    preload: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Python file run in every process that imports torch.")
    ] = None,
    runner: Annotated[Runner, typer.Option(help="How children start; cuda always spawns.")] = Runner.FORK,
    timeout: Annotated[str, typer.Option(metavar="TIME", help="Wall limit of one compiled cell.")] = "90",
) -> None:
    """Rewrite seed programs into equal ones and compare eager with compiled on all of them.

    Exit codes: 0 nothing found, 1 findings, 2 usage or bad input, 3 internal error, 130 interrupted.
    """
    logs.start(log_level)
    try:
        limit = seconds_of(time) if time is not None else None
        compile_seconds = _named("--timeout", lambda: seconds_of(timeout))
        configs = _named("--config", lambda: configs_of(config or [], configs_from))
    except ValueError as error:
        told = str(error)
        complain(told if told.startswith("--") else f"--time: {told}")
        raise typer.Exit(USAGE) from None
    devices = tuple(dict.fromkeys(str(d) for d in device or [Device.CPU]))
    if "cuda" in devices and not _has_cuda():
        complain("--device cuda: torch finds no CUDA device here; leave it out, or see `eqfuzz doctor`")
        raise typer.Exit(USAGE)

    from eqfuzz.campaign.settings import Settings

    settings = Settings(
        paths=tuple(paths),
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
        compile_seconds=compile_seconds,
        dry_run=dry_run,
    )
    raise typer.Exit(_run(settings, as_json=format is Format.JSON, quiet=quiet))


def _named[T](option: str, read: Callable[[], T]) -> T:
    raise NotImplementedError


def _has_cuda() -> bool:
    import torch

    return torch.cuda.is_available()
