"""``eqfuzz generate opinfo``, ``refused``, ``modules``, ``optimizers``, ``numpy``: what PyTorch tests, as programs."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from eqfuzz.cli import logs
from eqfuzz.cli.exit_codes import code_of
from eqfuzz.cli.exit_handling import exit_code_of_long_run
from eqfuzz.cli.options.common import (
    OUT,
    EventFormat,
    Jobs,
    KnownIssueFiles,
    LogLevel,
    LogLevelOption,
    NoKnownIssues,
    Out,
    OutputFormat,
    Quiet,
    RandomSeed,
    Time,
    Timeout,
)
from eqfuzz.cli.options.compiling import Device, SweepConfig, SweepDevices
from eqfuzz.cli.options.generating import (
    CatalogueDtypes,
    CatalogueFunctions,
    CatalogueModules,
    CatalogueOperators,
    CatalogueOptimizers,
    CataloguePythonNames,
    MostSamples,
    ThenSweep,
)
from eqfuzz.cli.options.reports import Reports, report_targets
from eqfuzz.cli.options.values import (
    BadOption,
    configs_of,
    has_cuda,
    job_count,
    known_issues_of,
    require_cuda,
    seconds_of,
    split_names,
    time_limit,
)

if TYPE_CHECKING:
    from eqfuzz.commands.read_catalogue import CatalogueRequest
    from eqfuzz.generate.catalogues.messages import Catalogue
    from eqfuzz.mutate.settings import Settings
    from eqfuzz.report.machine.report_format import ReportTarget
    from eqfuzz.run.configs.named import Config

DEFAULT_TIMEOUT = "5m"
"""A program has many results."""


def _verb(catalogue: Catalogue, names_option: Any, docstring: str) -> Callable[..., None]:
    """The function of a verb that reads ``catalogue``."""

    def verb(
        names: list[str] | None = None,
        dtypes: CatalogueDtypes = None,
        most: MostSamples = 0,
        seed: RandomSeed = 0,
        jobs: Jobs = None,
        run: ThenSweep = False,
        config: SweepConfig = None,
        device: SweepDevices = None,
        timeout: Timeout = "",
        time: Time = None,
        known_issues: KnownIssueFiles = None,
        no_known_issues: NoKnownIssues = False,
        out: Out = OUT,
        format: EventFormat = OutputFormat.TEXT,
        quiet: Quiet = False,
        report: Reports = None,
        log_level: LogLevelOption = LogLevel.WARNING,
    ) -> None:
        logs.start(log_level)
        _generate(
            catalogue,
            names,
            dtypes,
            most,
            seed,
            jobs,
            run,
            config,
            device,
            timeout,
            time,
            known_issues,
            no_known_issues,
            out,
            format,
            quiet,
            report,
        )

    verb.__doc__ = docstring
    verb.__annotations__["names"] = names_option
    return verb


opinfo = _verb(
    "opinfo",
    CatalogueOperators,
    """Write PyTorch's OpInfo samples as seeds.

    Every sample of every operator, for each dtype that eager supports, is a result of a program in DIR/programs, with
    new values of its domain in layouts drawn at random. The same random seed, torch and version give the same programs.
    What was read is kept in DIR/samples.jsonl: the same command resumes.

    --run compiles every program instead of writing it, judges each result, and writes the matrix of operators by dtype
    to DIR/matrix.json and DIR/matrix.md, with columns for CUDA where there is a device. It resumes too. --config,
    --device, --timeout, --time, --known-issues and --report go with --run.

    Exit codes: 0 written, or no new difference, 1 new differences (--run), 2 usage or bad input, 3 internal error,
    130 interrupted.
    """,
)
refused = _verb(
    "refused",
    CatalogueOperators,
    """Write calls that eager refuses as seeds.

    The error inputs of OpInfo, and samples with one argument that breaks the operator's contract: one program in
    DIR/programs for each exception of an operator. Compiled code has to refuse them, too. All else is as in `eqfuzz
    generate opinfo`.
    """,
)
modules = _verb(
    "modules",
    CatalogueModules,
    """Write the modules of torch.nn as seeds.

    Every module of PyTorch's ModuleInfo, built in each way that its tests build it, in training and, where that
    differs, in evaluation, is a result of a program in DIR/programs. All else is as in `eqfuzz generate opinfo`.
    """,
)
optimizers = _verb(
    "optimizers",
    CatalogueOptimizers,
    """Write the optimizers of torch.optim as seeds.

    Two steps of every optimizer with each set of options of PyTorch's OptimizerInfo, plain, foreach, fused and
    capturable, are a result of a program in DIR/programs. All else is as in `eqfuzz generate opinfo`.
    """,
)
numpy = _verb(
    "numpy",
    CatalogueFunctions,
    """Write NumPy's functions as seeds.

    Every function of NumPy that Dynamo traces as one of torch, in each of many ways to call it that NumPy accepts, is a
    result of a program in DIR/programs. All else is as in `eqfuzz generate opinfo`.
    """,
)
python = _verb(
    "python",
    CataloguePythonNames,
    """Write what Python itself does as seeds.

    Methods of Python's types, its functions, operators and statements, each with many arguments, are results of
    programs in DIR/programs, next to a tensor operator. All else is as in `eqfuzz generate opinfo`.
    """,
)


def _generate(
    catalogue: Catalogue,
    names: list[str] | None,
    dtypes: list[str] | None,
    most: int,
    seed: int,
    jobs: int | None,
    run: bool,
    config: str | None,
    device: list[Device] | None,
    timeout: str,
    time: str | None,
    known_issues: list[Path] | None,
    no_known_issues: bool,
    out: Path,
    format: OutputFormat,
    quiet: bool,
    report: list[str] | None,
) -> None:
    from eqfuzz.commands.read_catalogue import CatalogueRequest
    from eqfuzz.generate.catalogues.messages import REFUSED

    if dtypes and catalogue == REFUSED:
        raise BadOption("--dtypes", "a refused call has the first dtype that the operator supports")
    if most and catalogue == REFUSED:
        raise BadOption("--most", "of the calls that an operator refuses one for each exception is written")
    request = CatalogueRequest(
        out=out,
        operators=tuple(split_names(names)),
        dtypes=tuple(split_names(dtypes)),
        seed=seed,
        jobs=job_count(jobs),
        catalogue=catalogue,
        most=most,
    )
    of_runs = {
        "--config": config,
        "--device": device,
        "--timeout": timeout,
        "--time": time,
        "--known-issues": known_issues,
        "--no-known-issues": no_known_issues,
        "--report": report,
    }
    for option, value in of_runs.items():
        if value and not run:
            raise BadOption(option, "it is about comparing, so it goes with --run")
    reports = report_targets(report)
    settings: Settings | None = None
    if run:
        settings = dataclasses.replace(
            _settings(request, _devices(device), seconds_of(timeout or DEFAULT_TIMEOUT, "--timeout"), time_limit(time)),
            configs=_one_config(config),
            known_issues=known_issues_of(known_issues, no_known_issues),
        )
    raise typer.Exit(
        exit_code_of_long_run(
            lambda: _write_or_sweep(request, settings, reports, as_json=format is OutputFormat.JSON, quiet=quiet),
            stopped=f"what was read or judged is in {out}",
            errors_in=out,
        )
    )


def _write_or_sweep(
    request: CatalogueRequest,
    settings: Settings | None,
    reports: Sequence[ReportTarget],
    *,
    as_json: bool,
    quiet: bool,
) -> int:
    from eqfuzz.commands.read_catalogue import write_catalogue
    from eqfuzz.events.event import to_all
    from eqfuzz.report.generate.catalogue import CatalogueReport
    from eqfuzz.report.machine.json_lines import JsonLines
    from eqfuzz.report.machine.report_files import ReportFiles
    from eqfuzz.report.terminal import make_console

    report = JsonLines(sys.stdout) if as_json else CatalogueReport(make_console(), quiet=quiet)
    findings = 0
    with report:
        if settings is None:
            summary = write_catalogue(request, report.handle)
        else:
            from eqfuzz.commands.sweep import sweep_catalogue

            with ReportFiles(reports) as files:
                summary = sweep_catalogue(request, settings, to_all(report.handle, files.handle))
            findings = summary.findings
    if isinstance(report, CatalogueReport):
        report.close()
    return code_of(interrupted=summary.interrupted, findings=findings > 0)


def _devices(chosen: list[Device] | None) -> list[Device]:
    """Those to sweep on. Raises BadOption for CUDA without a device."""
    if chosen is None:
        return [Device.CPU, *([Device.CUDA] if has_cuda() else [])]
    if Device.CUDA in chosen:
        require_cuda()
    return list(dict.fromkeys(chosen))


def _settings(request: CatalogueRequest, devices: list[Device], timeout: float, limit: float | None) -> Settings:
    """Each program as it is, called once."""
    from eqfuzz.mutate.settings import CompileSettings, OracleSettings, RewriteSettings, Settings
    from eqfuzz.oracle.compare.checks import CALLS, DEFAULT_CHECKS

    return Settings(
        out=request.out,
        seed=request.seed,
        jobs=request.jobs,
        time=limit,
        rewriting=RewriteSettings(strategy="none", variants=0),
        compiling=CompileSettings(timeout=timeout, devices=tuple(device.value for device in devices)),
        judging=OracleSettings(steps=0, input_sets=1),
        checks=tuple(name for name in DEFAULT_CHECKS if name not in CALLS),
        guard_steps=0,
        own_random=False,
    )


def _one_config(name: str | None) -> tuple[Config, ...]:
    """The configuration of the sweep. Raises BadOption for several."""
    configs = configs_of([name] if name else None)
    if len(configs) > 1:
        raise BadOption("--config", "a sweep has one configuration")
    return configs
