"""``eqfuzz campaign``: run or resume a campaign."""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from eqfuzz.cli import logs
from eqfuzz.cli.campaign.store import store_errors
from eqfuzz.cli.exit_codes import CLEAN, USAGE, code_of, complain
from eqfuzz.cli.exit_handling import exit_code_of_long_run
from eqfuzz.cli.loading_notice import loading_notice
from eqfuzz.cli.options.campaign import (
    CampaignName,
    CampaignsFolder,
    Catalogues,
    ConfigurationFile,
    CpuTime,
    Database,
    Executor,
    ExecutorName,
    Feedback,
    Init,
    MostCells,
    MostFindings,
    RayAddress,
    SeedSources,
    Templates,
)
from eqfuzz.cli.options.common import (
    OUT,
    EventFormat,
    Jobs,
    LogLevel,
    LogLevelOption,
    OptionalRandomSeed,
    OptionalUnsafe,
    OptionalUntrusted,
    OutputFormat,
    Preload,
    Quiet,
    Time,
)
from eqfuzz.cli.options.compiling import ConfigNames, ConfigsFrom, Devices
from eqfuzz.cli.options.model import (
    Dollars,
    KeyFile,
    KeyVariable,
    OptionalBaseUrl,
    OptionalModel,
    OptionalPrice,
    Prompts,
)
from eqfuzz.cli.options.reports import Reports, report_targets
from eqfuzz.cli.options.rewriting import OptionalDepth, OptionalRules, OptionalStrategy, OptionalVariants
from eqfuzz.cli.options.values import (
    BadOption,
    dollars_of,
    job_count,
    seconds_of,
    split_names,
    time_limit,
)
from eqfuzz.errors import UsageError

if TYPE_CHECKING:
    from eqfuzz.campaign.configuration import Configuration
    from eqfuzz.campaign.invocation import InvocationOptions
    from eqfuzz.campaign.metrics import CampaignMetrics
    from eqfuzz.events.campaign import CampaignSummary
    from eqfuzz.events.event import Handler
    from eqfuzz.report.machine.report_format import ReportTarget

CONFIGURATION = Path("eqfuzz.toml")


def run(
    context: typer.Context,
    name: CampaignName = "default",
    file: ConfigurationFile = None,
    init: Init = False,
    seeds: SeedSources = None,
    template: Templates = None,
    catalogue: Catalogues = None,
    model: OptionalModel = None,
    prompt: Prompts = None,
    base_url: OptionalBaseUrl = None,
    key_env: KeyVariable = None,
    key_file: KeyFile = None,
    price: OptionalPrice = None,
    dollars: Dollars = "",
    untrusted: OptionalUntrusted = None,
    unsafe: OptionalUnsafe = None,
    seed: OptionalRandomSeed = None,
    time: Time = None,
    cpu: CpuTime = None,
    cells: MostCells = None,
    findings: MostFindings = None,
    strategy: OptionalStrategy = None,
    depth: OptionalDepth = None,
    variants: OptionalVariants = None,
    rules: OptionalRules = None,
    config: ConfigNames = None,
    configs_from: ConfigsFrom = None,
    device: Devices = None,
    preload: Preload = None,
    feedback: Feedback = None,
    jobs: Jobs = None,
    executor: Executor = ExecutorName.LOCAL,
    ray_address: RayAddress = "",
    out: CampaignsFolder = OUT,
    db: Database = "",
    report: Reports = None,
    format: EventFormat = OutputFormat.TEXT,
    quiet: Quiet = False,
    log_level: LogLevelOption = LogLevel.WARNING,
) -> None:
    """Fuzz until stopped or out of budget.

    A campaign of the same --name is resumed. Options that are not given are taken from the configuration file, see
    --init. Ctrl-C once finishes what is in flight within two minutes, twice stops at once.

    Exit codes: 0 nothing found but known issues, 1 findings, 2 usage or bad input, 3 internal error or a broken
    installation, 130 interrupted.
    """
    if context.invoked_subcommand is not None:
        return
    logs.start(log_level)
    from eqfuzz.campaign.configuration import InvalidConfiguration
    from eqfuzz.campaign.invocation import InvocationOptions

    if init:
        _write_configuration()
        return
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name):
        raise BadOption("--name", f"{name!r}: letters, digits, '.', '_' and '-', for it names a folder")
    if ray_address and executor is not ExecutorName.RAY:
        raise BadOption("--ray-address", "it is for --executor ray")
    amount = dollars_of(dollars, "--dollars")
    changes: dict[str, dict[str, Any]] = {
        "": {"seed": seed},
        "budget": {
            "time": time_limit(time),
            "cpu": cpu and seconds_of(cpu, "--cpu"),
            "cells": cells,
            "findings": findings,
            "dollars": None if amount is None else float(amount),
        },
        "sources": {
            "seeds": _unless_none(seeds),
            "templates": _unless_none(split_names(template)),
            "catalogues": _unless_none(split_names(catalogue)),
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
            "configs": tuple(split_names(config)) if config or configs_from else None,
            "configs_from": configs_from,
            "devices": device and tuple(str(d) for d in device),
            "preload": preload,
        },
        "feedback": {"enabled": feedback},
    }
    reports = report_targets(report)
    try:
        configuration = _configuration(file, changes)
    except InvalidConfiguration as error:
        raise UsageError(str(error)) from None
    options = InvocationOptions(
        name=name,
        out=out,
        url=db,
        jobs=jobs or (0 if ray_address else job_count(None)),
        executor=str(executor),
        ray_address=ray_address,
    )
    from eqfuzz.campaign.metrics import CampaignMetrics

    metrics = CampaignMetrics()  # here: its clock is that of --time
    with loading_notice():
        import eqfuzz.campaign.setup  # noqa: F401 - before Ctrl-C raises an exception, which torch drops while it is imported

    as_json = format is OutputFormat.JSON
    raise typer.Exit(
        exit_code_of_long_run(
            lambda: _run(configuration, options, metrics, as_json=as_json, quiet=quiet, reports=reports),
            stopped=f"results so far are in {options.folder}; the same command resumes",
            errors_in=options.folder,
        )
    )


def _run(
    configuration: Configuration,
    options: InvocationOptions,
    statistics: CampaignMetrics,
    *,
    as_json: bool,
    quiet: bool,
    reports: Sequence[ReportTarget],
) -> int:
    from eqfuzz.campaign.setup import run_campaign
    from eqfuzz.events.event import to_all
    from eqfuzz.report.campaign.screen import CampaignReport, CampaignScreen
    from eqfuzz.report.machine.event_log import EVENTS, EventFile, EventStream, StatsFile
    from eqfuzz.report.machine.report_files import ReportFiles
    from eqfuzz.report.terminal import make_console

    events = EventFile(options.folder / EVENTS)
    stats = StatsFile(options.folder / "stats.json", lambda: {**statistics.figures(), "curve": statistics.curve()})
    with contextlib.ExitStack() as closing, store_errors():
        closing.callback(stats.close)
        closing.callback(events.close)
        handlers: list[Handler] = [logs.log_event, events.handle]
        handlers.append(closing.enter_context(ReportFiles(reports)).handle)
        if as_json:
            handlers.append(EventStream(sys.stdout).handle)
        else:
            screen = CampaignScreen(statistics, options.name, options.jobs)
            handlers.append(closing.enter_context(CampaignReport(make_console(), screen, quiet=quiet)).handle)
        return _exit_code(run_campaign(configuration, options, statistics, to_all(*handlers)))


def _exit_code(summary: CampaignSummary) -> int:
    code = code_of(interrupted=summary.interrupted, findings=summary.findings > 0, errors=summary.errors)
    if code == CLEAN and summary.why == "model":
        complain("the model writes no more programs, for the reason above, and no other source has any")
        return USAGE
    if code == CLEAN and summary.why == "seeds" and summary.figures["programs"] == summary.figures["invalid"]:
        complain(
            "no source has a seed that runs: every file is invalid or cannot be read; `--template mixed` generates some"
        )
        return USAGE
    return code


def _configuration(file: Path | None, changes: dict[str, dict[str, Any]]) -> Configuration:
    """The configuration of ``file`` with the options' changes. Raises InvalidConfiguration."""
    from eqfuzz.campaign.configuration import Configuration, changed, read_configuration

    path = file or (CONFIGURATION if CONFIGURATION.is_file() else None)
    base = read_configuration(path) if path is not None else Configuration()
    wanted = {
        table: {entry: value for entry, value in entries.items() if value is not None}
        for table, entries in changes.items()
    }
    return changed(base, wanted, "options")


def _unless_none(values: Sequence[Any] | None) -> tuple[Any, ...] | None:
    """The values of an option; nothing for the word 'none'; None where the option was not given."""
    return () if list(map(str, values or ())) == ["none"] else tuple(values or ()) or None


def _write_configuration() -> None:
    from eqfuzz.campaign.configuration import commented

    try:
        with CONFIGURATION.open("x", encoding="utf-8") as stream:
            stream.write(commented())
    except FileExistsError:
        raise UsageError(f"{CONFIGURATION} exists already: move it away first") from None
    except OSError as error:
        raise UsageError(f"{CONFIGURATION}: {error.strerror}") from None
    print(f"{CONFIGURATION}: written; `eqfuzz campaign` reads it")
