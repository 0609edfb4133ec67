"""``eqfuzz generate dag``: random programs as graphs of operators."""

from __future__ import annotations

import dataclasses
import json
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from eqfuzz.cli import logs
from eqfuzz.cli.exit_codes import CLEAN, code_of
from eqfuzz.cli.exit_handling import exit_code_of_long_run
from eqfuzz.cli.options.common import (
    OUT,
    EventFormat,
    KnownIssueFiles,
    LogLevel,
    LogLevelOption,
    NoKnownIssues,
    OutputFormat,
    Quiet,
    Time,
)
from eqfuzz.cli.options.compiling import ConfigNames, ConfigsFrom
from eqfuzz.cli.options.generating import (
    Artifacts,
    FirstSeed,
    MaxDepth,
    OperatorsFrom,
    OperatorWeights,
    Processes,
    ProgramCount,
    ProgramFolder,
    ProgramSeed,
    SupportedOps,
    Template,
    ThenRun,
    Verbose,
)
from eqfuzz.cli.options.reports import Reports, report_targets
from eqfuzz.cli.options.values import (
    BadOption,
    configs_of,
    job_count,
    known_issues_of,
    seed_configs_of,
    split_names,
    time_limit,
    value_of,
)
from eqfuzz.cli.run_reporting import report_run
from eqfuzz.errors import UsageError

if TYPE_CHECKING:
    from eqfuzz.commands.generate_dag import ProgramSource
    from eqfuzz.events.event import Event
    from eqfuzz.events.generate import GenerationEnded, ProgramGenerated
    from eqfuzz.mutate.settings import Settings
    from eqfuzz.report.machine.report_format import ReportTarget
    from eqfuzz.run.configs.named import Config


def dag(
    seed: ProgramSeed = None,
    start: FirstSeed = None,
    count: ProgramCount = None,
    template: Template = "default",
    max_depth: MaxDepth = None,
    supported_ops: SupportedOps = "",
    op_weights: OperatorWeights = "",
    operators_from: OperatorsFrom = None,
    processes: Processes = None,
    out: ProgramFolder = None,
    run: ThenRun = False,
    config: ConfigNames = None,
    configs_from: ConfigsFrom = None,
    known_issues: KnownIssueFiles = None,
    no_known_issues: NoKnownIssues = False,
    time: Time = None,
    artifacts: Artifacts = False,
    verbose: Verbose = False,
    format: EventFormat = OutputFormat.TEXT,
    quiet: Quiet = False,
    report: Reports = None,
    log_level: LogLevelOption = LogLevel.WARNING,
) -> None:
    """Generate random graphs of operators.

    The same random seed, template and version give the same program everywhere. --config,
    --known-issues, --time and --report go with --run.

    Exit codes: 0 nothing found, 1 findings (--run), 2 usage or bad input, 3 internal error, 130 interrupted.
    """
    logs.start(log_level)
    from eqfuzz.commands.generate_dag import seeds_of

    if seed is not None and (start is not None or count is not None):
        raise BadOption("--seed", "it names one program: give --start and --count for several")
    of_runs = {
        "--config": config,
        "--configs-from": configs_from,
        "--known-issues": known_issues,
        "--no-known-issues": no_known_issues,
        "--time": time,
        "--processes": processes,
        "--report": report,
    }
    for option, value in of_runs.items():
        if value and not run:
            raise BadOption(option, "it is about comparing, so it goes with --run")
    folder = out or OUT
    source, name = _source(template, max_depth, supported_ops, op_weights, operators_from or [])
    settings: Settings | None = None
    if run:
        settings = dataclasses.replace(
            _settings(folder, processes, time_limit(time)),
            configs=_configs(source, config, configs_from),
            seed_configs=seed_configs_of(config, configs_from),
            known_issues=known_issues_of(known_issues, no_known_issues),
        )
    reports = report_targets(report)
    seeds = seeds_of(seed, start or 0, count or 1)
    as_json = format is OutputFormat.JSON
    if len(seeds) == 1 and out is None and not run and not artifacts:
        raise typer.Exit(
            exit_code_of_long_run(lambda: _print_one(source, seeds[0], as_json=as_json), stopped="nothing was written")
        )
    generation = _DagGeneration(source, name, seeds, folder, artifacts, as_json, quiet, verbose, settings, reports)
    raise typer.Exit(
        exit_code_of_long_run(generation.run, stopped=f"programs so far are in {folder}", errors_in=folder)
    )


@dataclasses.dataclass(frozen=True)
class _DagGeneration:
    """One invocation that writes files; with ``settings`` it compares the programs afterwards."""

    source: ProgramSource
    template: str
    seeds: range
    out: Path
    artifacts: bool
    as_json: bool
    quiet: bool
    verbose: bool
    settings: Settings | None
    reports: tuple[ReportTarget, ...]

    def run(self) -> int:
        from eqfuzz.events.generate import ProgramGenerated
        from eqfuzz.report.generate.dag import GenerationReport
        from eqfuzz.report.machine.json_lines import JsonLines
        from eqfuzz.report.terminal import make_console

        if self.as_json:
            report = JsonLines(sys.stdout)
        else:
            report = GenerationReport(make_console(), self.template, self.seeds, quiet=self.quiet, verbose=self.verbose)
        programs: list[ProgramGenerated] = []

        def handle(event: Event) -> None:
            logs.log_event(event)
            if isinstance(event, ProgramGenerated):
                programs.append(event)
            report.handle(event)

        with report:
            ended = self._generate(handle)
        if isinstance(report, GenerationReport):
            report.close()
        if ended.interrupted or self.settings is None or not programs:
            return code_of(interrupted=ended.interrupted, findings=False)
        return self._compare(self.settings, programs)

    def _generate(self, handle: Callable[[Event], None]) -> GenerationEnded:
        """The last event. Raises UsageError."""
        from eqfuzz.commands.generate_dag import generate_programs
        from eqfuzz.generate.dag.catalogue.operator import InvalidOperators
        from eqfuzz.generate.dag.generate import NothingGenerated

        try:
            return generate_programs(
                self.source,
                self.template,
                self.seeds,
                self.out,
                handle,
                artifacts=self.artifacts,
                runs=self.settings is not None,
            )
        except BrokenPipeError:
            raise
        except OSError as error:
            raise BadOption("--out", f"{error.filename or self.out}: {error.strerror}") from None
        except (NothingGenerated, InvalidOperators) as error:
            raise UsageError(str(error)) from None

    def _compare(self, settings: Settings, programs: list[ProgramGenerated]) -> int:
        from eqfuzz.commands.generate_dag import run_programs

        settings = dataclasses.replace(settings, seed=self.seeds.start)
        return report_run(
            settings,
            lambda handler: run_programs(programs, self.source, self.template, settings, handler),
            as_json=self.as_json,
            quiet=self.quiet,
            verbose=self.verbose,
            reports=self.reports,
        )


def _print_one(source: ProgramSource, seed: int, *, as_json: bool) -> int:
    from eqfuzz.generate.dag.catalogue.operator import InvalidOperators
    from eqfuzz.generate.dag.generate import NothingGenerated

    try:
        program = source.generate(seed)
    except (NothingGenerated, InvalidOperators) as error:
        raise UsageError(str(error)) from None
    logs.log_steps(program.name, program.timings)
    if as_json:
        event = {
            "event": "program",
            "seed": seed,
            "template": program.template,
            "operators": list(program.operators),
            "source": program.source,
        }
        print(json.dumps(event))
        print(json.dumps({"event": "summary", "programs": 1, "start": seed, "count": 1}))
    else:
        sys.stdout.write(program.source)
        sys.stdout.flush()
    return CLEAN


def _source(
    template: str, depth: int | None, supported: str, weights: str, plugins: list[Path]
) -> tuple[ProgramSource, str]:
    """The generator of the programs, and the name of its template. Raises BadOption."""
    from eqfuzz.generate.dag.catalogue.operator import InvalidOperators
    from eqfuzz.generate.dag.generate import Mixture, ProgramGenerator
    from eqfuzz.generate.dag.template import MIXED, InvalidTemplate, templates_named

    try:
        chosen = templates_named(template)
        generators = {name: ProgramGenerator(one, depth=depth, plugins=plugins) for name, one in chosen.items()}
    except InvalidOperators as error:
        raise BadOption("--operators-from", str(error)) from None
    except InvalidTemplate as error:
        raise BadOption("--template", str(error)) from None
    names = {name for one in generators.values() for name in one.every}
    only = _operators(supported, names, "--supported-ops")
    weighted = _operators(weights, names, "--op-weights")
    for name, weight in weighted.items():
        if weight is None:
            raise BadOption("--op-weights", f"{name!r} has no weight: write {name}=2")
    every = [*weighted.items(), *only.items()]  # a weight of --supported-ops takes precedence
    factors = {name: weight for name, weight in every if weight is not None}
    if only or factors:
        generators = {
            name: ProgramGenerator(one, only=only, weights=factors, depth=depth, plugins=plugins)
            for name, one in chosen.items()
        }
    generators = {name: one for name, one in generators.items() if one.names}
    if not generators:
        raise BadOption("--supported-ops" if only else "--template", f"template {template} lets no operator in")
    if len(generators) == 1:
        return next(iter(generators.values())), next(iter(generators))
    return Mixture(generators), MIXED


def _operators(text: str, names: set[str], option: str) -> dict[str, float | None]:
    """``torch.add,torch.matmul=5`` as weights by declared name, None without one. Raises BadOption."""
    from eqfuzz.generate.dag.catalogue.names import declared_name
    from eqfuzz.generate.dag.catalogue.operator import InvalidOperators

    weights: dict[str, float | None] = {}
    for part in split_names([text]):
        name, mark, number = (word.strip() for word in part.partition("="))
        try:
            weight = float(number) if mark else None
            weights[declared_name(name, names)] = weight
        except InvalidOperators as error:
            raise BadOption(option, str(error)) from None
        except ValueError:
            raise BadOption(option, f"{part!r}: the weight is no number") from None
        if weight is not None and not 0 < weight < math.inf:
            raise BadOption(option, f"{part!r}: a weight is a number above 0")
    return weights


def _settings(out: Path, processes: int | None, limit: float | None) -> Settings:
    from eqfuzz.mutate.settings import RewriteSettings, Settings

    return Settings(
        out=out,
        rewriting=RewriteSettings(strategy="none", variants=0),
        jobs=processes or max(1, round(job_count(None) * 0.75)),
        time=limit,
    )


def _configs(source: ProgramSource, names: list[str] | None, file: Path | None) -> tuple[Config, ...]:
    """The configurations that the user chose, else those that all programs are for. Raises BadOption."""
    from eqfuzz.run.configs.named import choose

    offered = seed_configs_of(names, file)
    if not (offered and source.configs):
        return configs_of(names, file)
    with value_of("--template"):
        return choose(source.configs, offered)
