"""``eqfuzz config``: seeds under compile configurations that torch's own sampler makes."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eqfuzz.cli.exit_codes import USAGE, complain
from eqfuzz.cli.exit_handling import ended
from eqfuzz.cli.options import BadOption, OutputFormat, seconds_of, split_names
from eqfuzz.cli.run_reporting import reported

if TYPE_CHECKING:
    from eqfuzz.commands.fuzz_configs import SamplingPlan
    from eqfuzz.events.event import Event, Handler
    from eqfuzz.events.run import Summary
    from eqfuzz.mutate.settings import Settings


class Module(StrEnum):
    INDUCTOR = "inductor"
    DYNAMO = "dynamo"
    BOTH = "both"


Seeds = Annotated[list[Path], typer.Argument(metavar="SEEDS...", help="Seed files and folders of seed files.")]
ModuleOption = Annotated[Module, typer.Option(help="Whose options are sampled.")]
Only = Annotated[
    list[str] | None,
    typer.Option(metavar="OPTION", help="Sample these alone; repeatable, comma lists. Dynamo's: dynamo.NAME."),
]
Seed = Annotated[int, typer.Option(help="Decides every random choice.")]
Jobs = Annotated[int | None, typer.Option(min=1, help="Seeds run at once (default: one per core).")]
Time = Annotated[str | None, typer.Option(metavar="TIME", help="Stop after this long: 90, 10m, 1h.")]
Out = Annotated[Path, typer.Option(metavar="DIR", help="Everything a run writes lands here.")]
FormatOption = Annotated[OutputFormat, typer.Option(help="json: one event per line, the summary last.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Only findings, a line each, and the totals.")]
Preload = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Python file run in every process that imports torch.")
]
Timeout = Annotated[str, typer.Option(metavar="TIME", help="Wall limit of one compiled cell.")]
Steps = Annotated[
    int,
    typer.Option(min=0, help="Changes of size, dtype, flags, modes … that each compiled seed is called on."),
]
InputSets = Annotated[int, typer.Option(min=0, help="Input sets of a seed that are used, from the first; 0: all.")]

config = typer.Typer(help="Run seeds under sampled compile configurations, and bisect what is found.")


@config.callback()
def require_sampler() -> None:
    """End with one line where torch cannot sample configurations."""
    from eqfuzz.torch_internals.source_tree import FUZZER, torch_folder

    if not (torch_folder() / FUZZER).is_file():
        complain("this torch cannot sample configurations: eqfuzz config needs torch 2.7 or newer")
        raise typer.Exit(USAGE)


@config.command("tuples")
def tuples(
    paths: Seeds,
    n: Annotated[int, typer.Option("-n", min=1, help="Options changed together.")] = 2,
    max: Annotated[int, typer.Option("--max", min=1, help="Configurations at most.")] = 100,
    module: ModuleOption = Module.BOTH,
    only: Only = None,
    seed: Seed = 0,
    jobs: Jobs = None,
    time: Time = None,
    out: Out = Path("eqfuzz-out"),
    format: FormatOption = OutputFormat.TEXT,
    quiet: Quiet = False,
    preload: Preload = None,
    timeout: Timeout = "90",
    steps: Steps = 1,
    input_sets: InputSets = 0,
) -> None:
    """Change N options at a time, each to another value than torch's.

    Every configuration runs in a process of its own and is judged as by `mutate`. What is judged is kept in
    DIR/config-state.json; the same command goes on where it stopped.

    Exit codes: 0 nothing found, 1 findings, 2 usage or bad input, 3 internal error, 130 interrupted.
    """
    from eqfuzz.commands.fuzz_configs import SamplingPlan

    sampling = SamplingPlan("tuples", _modules(module), tuple(split_names(only or [])), n=n, limit=max)
    _fuzz(
        sampling,
        _settings(paths, seed, jobs, time, out, preload, timeout, steps, input_sets),
        as_json=format is OutputFormat.JSON,
        quiet=quiet,
    )


@config.command("random")
def random(
    paths: Seeds,
    attempts: Annotated[int, typer.Option(min=1, help="Configurations tried.")] = 20,
    p: Annotated[float, typer.Option(min=0.0, max=1.0, help="Probability with which each option is changed.")] = 0.1,
    module: ModuleOption = Module.BOTH,
    only: Only = None,
    seed: Seed = 0,
    jobs: Jobs = None,
    time: Time = None,
    out: Out = Path("eqfuzz-out"),
    format: FormatOption = OutputFormat.TEXT,
    quiet: Quiet = False,
    preload: Preload = None,
    timeout: Timeout = "90",
    steps: Steps = 1,
    input_sets: InputSets = 0,
) -> None:
    """Change many options at a time, to random values; `eqfuzz config bisect` tells which of them count.

    Otherwise as `eqfuzz config tuples`.

    Exit codes: 0 nothing found, 1 findings, 2 usage or bad input, 3 internal error, 130 interrupted.
    """
    from eqfuzz.commands.fuzz_configs import SamplingPlan

    sampling = SamplingPlan("random", _modules(module), tuple(split_names(only or [])), attempts=attempts, p=p)
    _fuzz(
        sampling,
        _settings(paths, seed, jobs, time, out, preload, timeout, steps, input_sets),
        as_json=format is OutputFormat.JSON,
        quiet=quiet,
    )


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
) -> Settings:
    from eqfuzz.mutate.settings import Settings

    try:
        limit = seconds_of(time, "--time") if time is not None else None
        compile_seconds = seconds_of(timeout, "--timeout")
    except BadOption as error:
        complain(str(error))
        raise typer.Exit(USAGE) from None
    return Settings(
        paths=tuple(paths),
        out=out,
        seed=seed,
        jobs=jobs or len(os.sched_getaffinity(0)),
        time=limit,
        preload=preload,
        compile_seconds=compile_seconds,
        steps=steps,
        guard_steps=0,
        own_random=False,
        input_sets=input_sets,
    )


def _fuzz(sampling: SamplingPlan, settings: Settings, *, as_json: bool, quiet: bool) -> None:
    raise typer.Exit(
        ended(
            lambda: _run(settings, sampling, as_json=as_json, quiet=quiet),
            stopped=f"what was found is in {settings.out}",
            keep=settings.out,
        )
    )


def _run(settings: Settings, sampling: SamplingPlan, *, as_json: bool, quiet: bool) -> int:
    from eqfuzz.commands.fuzz_configs import run
    from eqfuzz.events.configs import ConfigsSampled
    from eqfuzz.report.run.console import make_console
    from eqfuzz.report.verbs.config import print_sampled

    def action(handler: Handler) -> Summary:
        def handle(event: Event) -> None:
            if isinstance(event, ConfigsSampled) and not as_json:
                if not quiet:
                    print_sampled(make_console(), event)
            else:
                handler(event)

        return run(settings, sampling, handle)

    return reported(settings, action, as_json=as_json, quiet=quiet)
