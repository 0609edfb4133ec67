"""``eqfuzz campaign``: seeds from every source, feedback that steers, results that survive anything."""

from __future__ import annotations

import contextlib
import os
import re
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from eqfuzz.cli import logs
from eqfuzz.cli.exit_codes import CLEAN, FINDINGS, INTERNAL, INTERRUPTED, USAGE, complain
from eqfuzz.cli.exit_handling import ended
from eqfuzz.cli.generate.model_options import dollars_of
from eqfuzz.cli.mutate import Device, LogLevel, Strategy
from eqfuzz.cli.options import BadOption, OutputFormat, new_file, seconds_of, split_names

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from eqfuzz.campaign.configuration import Configuration
    from eqfuzz.campaign.setup import InvocationOptions
    from eqfuzz.events.campaign import CampaignSummary
    from eqfuzz.events.event import Event

USUAL = Path("eqfuzz.toml")

campaign = typer.Typer(
    help="Fuzz until stopped: seeds of all kinds, steered by what the compiler shows; resumable by name.",
    invoke_without_command=True,
)

Out = Annotated[Path, typer.Option(metavar="DIR", help="Holds a folder for each campaign, and the store of all.")]
Db = Annotated[
    str, typer.Option(metavar="URL", help="The store: sqlite:///FILE or postgresql://… (default: a file below --out).")
]
OUT = Path("eqfuzz-out")


class ExecutorName(StrEnum):
    LOCAL = "local"
    RAY = "ray"


@campaign.callback()
def run(
    context: typer.Context,
    name: Annotated[str, typer.Option(metavar="NAME", help="The same name goes on where it was.")] = "default",
    file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Its configuration (default: ./eqfuzz.toml where it is there).")
    ] = None,
    init: Annotated[bool, typer.Option("--init", help="Write a commented ./eqfuzz.toml and stop.")] = False,
    seeds: Annotated[
        list[Path] | None,
        typer.Option(metavar="PATH", help="Seed files and folders; repeatable, 'none' (default: the shipped seeds)."),
    ] = None,
    template: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Templates of generated seeds; repeatable, comma lists, 'none'."),
    ] = None,
    model: Annotated[
        str | None, typer.Option(metavar="NAME", help="A language model that writes seeds too, as its server calls it.")
    ] = None,
    prompt: Annotated[
        list[str] | None, typer.Option(metavar="LIST", help="What it is asked: names, files of your own, 'all'.")
    ] = None,
    base_url: Annotated[
        str | None, typer.Option(metavar="URL", help="Its server, http://HOST:PORT/v1 (default: OpenAI's).")
    ] = None,
    key_env: Annotated[
        str | None, typer.Option(metavar="VARIABLE", help="Holds the key (default, at OpenAI: OPENAI_API_KEY).")
    ] = None,
    key_file: Annotated[Path | None, typer.Option(metavar="FILE", help="Holds the key.")] = None,
    price: Annotated[
        str | None, typer.Option(metavar="IN,OUT", help="Dollars for a million tokens (default: the list price).")
    ] = None,
    dollars: Annotated[
        str, typer.Option(metavar="DOLLARS", help="Never spend more; ends the campaign if nothing else does.")
    ] = "",
    untrusted: Annotated[
        bool | None, typer.Option("--untrusted", help="Run every seed in the sandbox, not only those that say so.")
    ] = None,
    unsafe: Annotated[
        bool | None, typer.Option("--unsafe", help="Where there can be no sandbox, run untrusted seeds without.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Decides every random choice.")] = None,
    time: Annotated[str | None, typer.Option(metavar="TIME", help="Stop after this long: 90, 10m, 1h.")] = None,
    cpu: Annotated[str | None, typer.Option(metavar="TIME", help="Stop after this much CPU time, in all.")] = None,
    cells: Annotated[int | None, typer.Option(min=1, help="Stop after so many compiled cells, in all.")] = None,
    findings: Annotated[int | None, typer.Option(min=1, help="Stop after so many buckets of new findings.")] = None,
    strategy: Annotated[Strategy | None, typer.Option(help="How rewrites are chosen, as in mutate.")] = None,
    depth: Annotated[int | None, typer.Option(min=1, help="Rewrites per variant at most.")] = None,
    variants: Annotated[int | None, typer.Option(min=0, help="Variants per seed.")] = None,
    rules: Annotated[str | None, typer.Option(metavar="SELECTION", help="'shapes/*,-shapes/flip*'.")] = None,
    config: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Compile configurations; repeatable, comma lists, 'all'.")
    ] = None,
    device: Annotated[list[Device] | None, typer.Option(help="Device to run on; repeatable.")] = None,
    preload: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Python file run in every process that imports torch.")
    ] = None,
    feedback: Annotated[
        bool | None, typer.Option("--feedback/--no-feedback", help="Steer by what was reached, or choose uniformly.")
    ] = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="Seeds run at once (default: one per core).")] = None,
    executor: Annotated[ExecutorName, typer.Option(help="Who runs them: this machine, or a Ray cluster.")] = (
        ExecutorName.LOCAL
    ),
    ray_address: Annotated[
        str, typer.Option(metavar="ADDRESS", help="An existing Ray cluster ('auto', host:port); default: a local one.")
    ] = "",
    out: Out = OUT,
    db: Db = "",
    junit: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the result as JUnit XML too, a test case for each seed.")
    ] = None,
    format: Annotated[
        OutputFormat, typer.Option(help="json: one event per line, the summary last.")
    ] = OutputFormat.TEXT,
    quiet: Annotated[bool, typer.Option("--quiet", help="Only findings, a line each, and the totals.")] = False,
    log_level: Annotated[
        LogLevel, typer.Option(case_sensitive=False, help="Log to stderr; DEBUG tells step timings.")
    ] = LogLevel.WARNING,
) -> None:
    """Fuzz until stopped or a budget is spent; the same --name goes on where it was.

    Ctrl-C once finishes what is in flight, twice stops at once.

    Exit codes: 0 nothing found but known issues, 1 findings, 2 usage or bad input, 3 internal error or a broken
    installation, 130 interrupted.
    """
    if context.invoked_subcommand is not None:
        return
    logs.start(log_level)
    from eqfuzz.campaign.configuration import InvalidConfiguration, commented
    from eqfuzz.campaign.setup import InvocationOptions

    if init:
        _write_usual(commented())
        return
    changes: dict[str, dict[str, Any]] = {
        "": {"seed": seed},
        "budget": {"cells": cells, "findings": findings},
        "sources": {
            "seeds": _none_if_said(seeds),
            "templates": _none_if_said(split_names(template or [])),
            "untrusted": untrusted,
            "unsafe": unsafe,
        },
        "model": {
            "name": model,
            "prompts": prompt and tuple(split_names(prompt)),
            "base_url": base_url,
            "key_env": key_env,
            "key_file": key_file,
            "price": price,
        },
        "rewriting": {"strategy": strategy and str(strategy), "depth": depth, "variants": variants, "rules": rules},
        "compiling": {
            "configs": config and tuple(split_names(config)),
            "devices": device and tuple(str(d) for d in device),
            "preload": preload,
        },
        "feedback": {"enabled": feedback},
    }
    try:
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name):
            raise BadOption("--name", f"{name!r}: letters, digits, '.', '_' and '-', for it names a folder")
        if ray_address and executor is not ExecutorName.RAY:
            raise BadOption("--ray-address", "it is for --executor ray")
        changes["budget"] |= {
            "time": time and seconds_of(time, "--time"),
            "cpu": cpu and seconds_of(cpu, "--cpu"),
            "dollars": None if (amount := dollars_of(dollars, "--dollars")) is None else float(amount),
        }
        new_file("--junit", junit)
        configuration = _configuration(file, changes)
    except (BadOption, InvalidConfiguration) as error:
        complain(str(error))
        raise typer.Exit(USAGE) from None
    options = InvocationOptions(
        name=name,
        out=out,
        url=db,
        jobs=jobs or (0 if ray_address else len(os.sched_getaffinity(0))),
        executor=str(executor),
        ray_address=ray_address,
    )
    as_json = format is OutputFormat.JSON
    raise typer.Exit(
        ended(
            lambda: _run(configuration, options, as_json=as_json, quiet=quiet, junit=junit),
            stopped=f"what was done is in {options.folder}; the same command goes on",
            keep=options.folder,
        )
    )


def _run(
    configuration: Configuration, options: InvocationOptions, *, as_json: bool, quiet: bool, junit: Path | None
) -> int:
    from eqfuzz.campaign.metrics import CampaignMetrics
    from eqfuzz.campaign.setup import run_campaign
    from eqfuzz.report.campaign.screen import CampaignReport, CampaignScreen
    from eqfuzz.report.machine.event_log import EventFile, EventStream, StatsFile
    from eqfuzz.report.machine.junit import JUnitFile
    from eqfuzz.report.run.console import make_console

    statistics = CampaignMetrics()
    events = EventFile(options.folder / "events.ndjson")
    stats = StatsFile(options.folder / "stats.json", lambda: {**statistics.figures(), "curve": statistics.curve()})
    with contextlib.ExitStack() as closing:
        closing.callback(stats.close)
        closing.callback(events.close)
        handlers: list[Callable[[Event], None]] = [logs.log_event, events.handle]
        if junit is not None:
            handlers.append(closing.enter_context(JUnitFile(junit)).handle)
        if as_json:
            handlers.append(EventStream(sys.stdout).handle)
        else:
            screen = CampaignScreen(statistics, options.name, options.jobs)
            handlers.append(closing.enter_context(CampaignReport(make_console(), screen, quiet=quiet)).handle)

        def handle(event: Event) -> None:
            for each in handlers:
                each(event)

        return _ended_as(lambda: run_campaign(configuration, options, statistics, handle))


def _ended_as(campaign: Callable[[], CampaignSummary]) -> int:
    """The exit code of a campaign, with what went wrong told."""
    from eqfuzz.campaign.store.store import StoreError
    from eqfuzz.errors import UsageError
    from eqfuzz.run.protocol import RunnerFailed

    try:
        summary = campaign()
    except UsageError as error:
        complain(str(error))
        return USAGE
    except StoreError as error:
        complain(str(error))
        return USAGE
    except RunnerFailed as error:
        complain(f"no process that runs programs could be started: {error}; `eqfuzz doctor` tells what is missing")
        return USAGE
    except KeyboardInterrupt:
        complain("interrupted before anything was run")
        return INTERRUPTED
    if summary.interrupted:
        complain("interrupted")
        return INTERRUPTED
    for error in summary.errors:
        complain(f"internal error: {error}")
    if summary.errors:
        return INTERNAL
    if summary.why == "model" and not summary.findings:
        complain("the model gives no more programs, for the reason told above, and no other source gives any")
        return USAGE
    if summary.why == "seeds" and summary.figures["programs"] == summary.figures["invalid"]:
        complain(
            "no source gives a seed that runs: every file is invalid or cannot be read; `--template mixed` makes some"
        )
        return USAGE
    return FINDINGS if summary.findings else CLEAN


def _configuration(file: Path | None, changes: dict[str, dict[str, Any]]) -> Configuration:
    """That of the file, with what the flags say instead. Raises InvalidConfiguration."""
    from eqfuzz.campaign.configuration import Configuration, changed, read_configuration

    given = file or (USUAL if USUAL.is_file() else None)
    base = read_configuration(given) if given is not None else Configuration()
    wanted = {
        table: {entry: value for entry, value in entries.items() if value is not None}
        for table, entries in changes.items()
    }
    return changed(base, wanted, "options")


def _none_if_said(given: Sequence[Any] | None) -> tuple[Any, ...] | None:
    """What is given; nothing at all for the word 'none'; None where the option is not there."""
    return () if list(map(str, given or ())) == ["none"] else tuple(given or ()) or None


def _write_usual(text: str) -> None:
    try:
        with USUAL.open("x", encoding="utf-8") as stream:
            stream.write(text)
    except FileExistsError:
        complain(f"{USUAL} is there already: move it away first")
        raise typer.Exit(USAGE) from None
    except OSError as error:
        complain(f"{USUAL}: {error.strerror}")
        raise typer.Exit(USAGE) from None
    print(f"{USUAL}: written; `eqfuzz campaign` reads it")
