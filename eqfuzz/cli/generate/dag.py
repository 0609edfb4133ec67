"""``eqfuzz generate``: seed programs out of nothing."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eqfuzz.cli import logs
from eqfuzz.cli.exit_codes import CLEAN, INTERRUPTED, USAGE, complain
from eqfuzz.cli.exit_handling import ended
from eqfuzz.cli.generate import llm as generate_llm
from eqfuzz.cli.mutate import LogLevel
from eqfuzz.cli.options import BadOption, OutputFormat, configs_of, seconds_of, split_names
from eqfuzz.cli.run_reporting import reported
from eqfuzz.program.suggestions import did_you_mean

if TYPE_CHECKING:
    from eqfuzz.commands.generate_dag import ProgramSource
    from eqfuzz.events.event import Event
    from eqfuzz.events.generate import GenerationEnded
    from eqfuzz.generate.dag.template import ProgramTemplate
    from eqfuzz.mutate.settings import Settings

generate = typer.Typer(help="Make seed programs: dag, llm; list what they are made of: ops, templates, prompts, parts.")

OperatorsFrom = Annotated[
    list[Path] | None,
    typer.Option(metavar="FILE", help="Python file that declares operators of your own; repeatable."),
]


@generate.command("dag")
def dag(
    seed: Annotated[int | None, typer.Option(min=0, help="Make this one program.")] = None,
    start: Annotated[int | None, typer.Option(min=0, help="The first seed, with --count (default: 0).")] = None,
    count: Annotated[int | None, typer.Option(min=1, help="How many programs, one for each seed (default: 1).")] = None,
    template: Annotated[
        str,
        typer.Option(metavar="NAME|FILE", help="What kind of programs; 'mixed': of every kind. A .toml or .py file."),
    ] = "default",
    max_depth: Annotated[
        int | None, typer.Option(min=1, max=20, help="Operators one after the other at most (default: the template's).")
    ] = None,
    supported_ops: Annotated[
        str, typer.Option(metavar="LIST", help="Only these, with weights: 'torch.add,torch.matmul=5'.")
    ] = "",
    op_weights: Annotated[str, typer.Option(metavar="LIST", help="Weights of single operators: 'torch.sum=3'.")] = "",
    operators_from: OperatorsFrom = None,
    processes: Annotated[
        int | None, typer.Option("--processes", "-p", min=1, help="Programs run at once (default: 75 % of the cores).")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Programs land in DIR/programs (one --seed alone: on the screen)."),
    ] = None,
    run: Annotated[bool, typer.Option("--run", help="Compare eager with compiled on each, as `mutate` does.")] = False,
    config: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="With --run: compile configuration; repeatable, comma lists, 'all'."),
    ] = None,
    time: Annotated[str | None, typer.Option(metavar="TIME", help="With --run: stop after this long.")] = None,
    artifacts: Annotated[
        bool, typer.Option("--artifacts", help="Beside each program: summary, operators, graph as SVG.")
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="Print every program, and all operators.")] = False,
    format: Annotated[
        OutputFormat, typer.Option(help="json: one event per line, the summary last.")
    ] = OutputFormat.TEXT,
    quiet: Annotated[bool, typer.Option("--quiet", help="Only findings, a line each, and the totals.")] = False,
    log_level: Annotated[
        LogLevel, typer.Option(case_sensitive=False, help="Log to stderr; DEBUG tells step timings.")
    ] = LogLevel.WARNING,
) -> None:
    """Random programs as graphs of operators, in eqfuzz's own seed format.

    The same seed, template and version give the same program everywhere.

    Exit codes: 0 nothing found, 1 findings (--run), 2 usage or bad input, 3 internal error, 130 interrupted.
    """
    logs.start(log_level)
    from eqfuzz.commands.generate_dag import seeds_of

    try:
        if seed is not None and (start is not None or count is not None):
            raise BadOption("--seed", "it names one program: give --start and --count for several")
        without = [o for o, v in (("--config", config), ("--time", time), ("--processes", processes)) if v and not run]
        if without:
            raise BadOption(without[0], "it is about comparing, so it goes with --run")
        source, name = _source(template, max_depth, supported_ops, op_weights, operators_from or [])
        limit = seconds_of(time, "--time") if time is not None else None
        settings = _settings(out or Path("eqfuzz-out"), processes, limit, config or []) if run else None
    except BadOption as error:
        complain(str(error))
        raise typer.Exit(USAGE) from None
    seeds = seeds_of(seed, start or 0, count or 1)
    as_json = format is OutputFormat.JSON
    if len(seeds) == 1 and out is None and not run and not artifacts:
        raise typer.Exit(ended(lambda: _print_one(source, seeds[0], as_json=as_json), stopped="nothing was written"))
    making = _DagGeneration(
        source, name, seeds, out or Path("eqfuzz-out"), artifacts, as_json, quiet, verbose, settings
    )
    kept = f"what was made is in {making.out}"
    raise typer.Exit(ended(making.run, stopped=kept, keep=making.out))


class _DagGeneration:
    """One call of the verb that writes files."""

    def __init__(
        self,
        source: ProgramSource,
        template: str,
        seeds: range,
        out: Path,
        artifacts: bool,
        as_json: bool,
        quiet: bool,
        verbose: bool,
        settings: Settings | None,
    ) -> None:
        self.source = source
        self.template = template
        self.seeds = seeds
        self.out = out
        self.artifacts = artifacts
        self.as_json = as_json
        self.quiet = quiet
        self.verbose = verbose
        self.settings = settings

    def run(self) -> int:
        from eqfuzz.events.generate import ProgramGenerated
        from eqfuzz.report.generate.dag import GenerationReport
        from eqfuzz.report.machine.json_lines import JsonLines
        from eqfuzz.report.run.console import make_console

        if self.as_json:
            report = JsonLines(sys.stdout)
        else:
            report = GenerationReport(make_console(), self.template, self.seeds, quiet=self.quiet, verbose=self.verbose)
        files: list[Path] = []

        def handle(event: Event) -> None:
            logs.log_event(event)
            if isinstance(event, ProgramGenerated):
                files.append(Path(event.file))
            report.handle(event)

        with report:
            made = self._generate(handle)
        if isinstance(made, str):
            complain(made)
            return USAGE
        if isinstance(report, GenerationReport):
            report.close()
        if made.interrupted:
            complain("interrupted")
            return INTERRUPTED
        return self._compare(files) if self.settings is not None and files else CLEAN

    def _generate(self, handle: Callable[[Event], None]) -> GenerationEnded | str:
        """The last event, or why nothing comes of it."""
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
            return f"--out: {error.filename or self.out}: {error.strerror}"
        except (NothingGenerated, InvalidOperators) as error:
            return str(error)

    def _compare(self, files: list[Path]) -> int:
        import dataclasses

        from eqfuzz.mutate.run import run

        assert self.settings is not None
        settings = dataclasses.replace(self.settings, paths=tuple(files), seed=self.seeds.start)

        return reported(settings, lambda handler: run(settings, handler), as_json=self.as_json, quiet=self.quiet)


def _print_one(source: ProgramSource, seed: int, *, as_json: bool) -> int:
    from eqfuzz.generate.dag.catalogue.operator import InvalidOperators
    from eqfuzz.generate.dag.generate import NothingGenerated

    try:
        program = source.generate(seed)
    except (NothingGenerated, InvalidOperators) as error:
        complain(str(error))
        return USAGE
    if as_json:
        operators = list(program.operators)
        told = {"event": "program", "seed": seed, "template": program.template, "operators": operators}
        print(json.dumps({**told, "source": program.source}))
        print(json.dumps({"event": "summary", "programs": 1, "start": seed, "count": 1}))
    else:
        sys.stdout.write(program.source)
        sys.stdout.flush()
    return CLEAN


def _source(
    template: str, depth: int | None, supported: str, weights: str, plugins: list[Path]
) -> tuple[ProgramSource, str]:
    """What makes the programs, and the template's name. Raises BadOption."""
    from eqfuzz.generate.dag.catalogue.operator import InvalidOperators
    from eqfuzz.generate.dag.generate import MIXED, Mixture, ProgramGenerator
    from eqfuzz.generate.dag.template import InvalidTemplate

    chosen = _templates(template)
    try:
        generators = {name: ProgramGenerator(one, depth=depth, plugins=plugins) for name, one in chosen.items()}
    except InvalidOperators as error:
        raise BadOption("--operators-from", str(error)) from None
    except InvalidTemplate as error:
        raise BadOption("--template", str(error)) from None
    known = {name for one in generators.values() for name in one.every}
    only = _weights(supported, known, "--supported-ops")
    factors = {**_weights(op_weights_of(weights), known, "--op-weights"), **only}
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


def op_weights_of(text: str) -> str:
    """Weights without a number make no sense. Raises BadOption."""
    for part in split_names([text]):
        if "=" not in part:
            raise BadOption("--op-weights", f"{part!r} has no weight: write {part}=2")
    return text


def _templates(name: str) -> dict[str, ProgramTemplate]:
    """The template of that name or file; all of them for ``mixed``. Raises BadOption."""
    from eqfuzz.generate.dag.generate import MIXED
    from eqfuzz.generate.dag.template import InvalidTemplate, shipped_templates, template_of

    shipped = shipped_templates()
    if name == MIXED:
        return shipped
    if name in shipped:
        return {name: shipped[name]}
    if name.endswith((".toml", ".py")):
        try:
            template = template_of(Path(name))
        except InvalidTemplate as error:
            raise BadOption("--template", str(error)) from None
        return {template.name: template}
    known = [*shipped, MIXED]
    raise BadOption("--template", f"no template {name!r}{did_you_mean(name, known)}; known: {', '.join(known)}")


def _weights(text: str, known: set[str], option: str) -> dict[str, float]:
    """``torch.add,torch.matmul=5`` as weights by name. Raises BadOption."""
    found: dict[str, float] = {}
    for part in split_names([text]):
        name, _, number = part.partition("=")
        if name not in known:
            hint = did_you_mean(name, sorted(known))
            raise BadOption(option, f"no operator {name!r}{hint}; `eqfuzz generate ops` lists them")
        try:
            found[name] = float(number if "=" in part else 1)
        except ValueError:
            raise BadOption(option, f"{part!r}: the weight is no number") from None
        if not 0 < found[name] < math.inf:
            raise BadOption(option, f"{part!r}: a weight is a number above 0")
    return found


def _settings(out: Path, processes: int | None, limit: float | None, config: list[str]) -> Settings:
    from eqfuzz.mutate.settings import Settings

    cores = len(os.sched_getaffinity(0))
    return Settings(
        paths=(),
        out=out,
        strategy="none",
        variants=0,
        jobs=processes or max(1, round(cores * 0.75)),
        time=limit,
        configs=configs_of(config, None),
    )


@generate.command("ops")
def ops(
    operators_from: OperatorsFrom = None,
    format: Annotated[OutputFormat, typer.Option(help="json: one object per operator.")] = OutputFormat.TEXT,
) -> None:
    """List every operator and structure: family, dtypes, ranks, spellings."""
    from eqfuzz.generate.dag.catalogue.listing import listed
    from eqfuzz.generate.dag.catalogue.operator import InvalidOperators

    try:
        entries = listed(operators_from or [])
    except InvalidOperators as error:
        complain(f"--operators-from: {error}")
        raise typer.Exit(USAGE) from None
    if format is OutputFormat.JSON:
        for entry in entries:
            print(json.dumps(entry))
        return
    from eqfuzz.report.generate.operators import print_operators

    print_operators(entries)


@generate.command("templates")
def templates() -> None:
    """List the templates."""
    from eqfuzz.generate.dag.template import shipped_templates

    for name, template in shipped_templates().items():
        print(f"{name:16} {template.about}")
    print(f"{'mixed':16} each program of one of these")


generate.command("llm")(generate_llm.llm)
generate.command("prompts")(generate_llm.prompts)
generate.command("parts")(generate_llm.parts)
