"""``eqfuzz generate llm``: seeds written by a language model of the user's choice."""

from __future__ import annotations

import dataclasses
import fnmatch
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from eqfuzz.cli import logs
from eqfuzz.cli.exit_codes import CLEAN, INTERRUPTED, USAGE, complain
from eqfuzz.cli.exit_handling import ended
from eqfuzz.cli.generate.model_options import dollars_of, named_as_options
from eqfuzz.cli.mutate import LogLevel, Strategy
from eqfuzz.cli.options import BadOption, OutputFormat, configs_of, seconds_of, split_names
from eqfuzz.cli.run_reporting import reported

if TYPE_CHECKING:
    from eqfuzz.events.event import Event, Handler
    from eqfuzz.events.llm import WritingEnded
    from eqfuzz.events.run import Summary
    from eqfuzz.generate.llm.prompt import Prompt
    from eqfuzz.generate.llm.request import GenerationRequest
    from eqfuzz.mutate.settings import Settings

PAPER = "paper"
PAPER_RULES = ",".join(
    f"operators/{name}"
    for name in (
        *("add_function", "sub_function", "mul_function", "div_function", "matmul_function"),
        *("pow_half_is_sqrt", "pow_function", "neg_function", "not_function", "invert_function"),
    )
)
"""The ten transforms of Jin & Wan 2025, §3.1."""


def llm(
    model: Annotated[str, typer.Option(metavar="NAME", help="The model, as its server calls it.")] = "",
    prompt: Annotated[
        list[str] | None,
        typer.Option(metavar="LIST", help="Prompts, in turn; a .toml or text file of your own (default: basic)."),
    ] = None,
    count: Annotated[int, typer.Option(min=1, help="Seeds to ask for; repairs come on top.")] = 10,
    budget: Annotated[
        str, typer.Option(metavar="DOLLARS", help="Never spend more, earlier runs with this --out included.")
    ] = "",
    base_url: Annotated[
        str, typer.Option(metavar="URL", help="An OpenAI-compatible server, http://HOST:PORT/v1 (default: OpenAI's).")
    ] = "",
    key_env: Annotated[
        str | None, typer.Option(metavar="VARIABLE", help="Holds the key (default, at OpenAI: OPENAI_API_KEY).")
    ] = None,
    key_file: Annotated[Path | None, typer.Option(metavar="FILE", help="Holds the key.")] = None,
    price: Annotated[
        str, typer.Option(metavar="IN,OUT", help="Dollars for a million tokens (default: the provider's list price).")
    ] = "",
    seed: Annotated[int, typer.Option(help="Decides every random choice; another one asks for other programs.")] = 0,
    repairs: Annotated[int, typer.Option(min=0, help="Rounds in which the model may correct a program.")] = 2,
    max_tokens: Annotated[int, typer.Option(min=64, help="Tokens of an answer at most.")] = 2048,
    temperature: Annotated[float | None, typer.Option(min=0, max=2, help="Default: the server's own.")] = None,
    concurrency: Annotated[int, typer.Option(min=1, help="Questions asked at once.")] = 8,
    attempts: Annotated[int, typer.Option(min=1, help="Attempts for a question, where the server fails.")] = 5,
    timeout: Annotated[str, typer.Option(metavar="TIME", help="Wall limit of one attempt.")] = "120",
    program_timeout: Annotated[
        str, typer.Option(metavar="TIME", help="Wall limit of loading a program, and of running it in eager.")
    ] = "10",
    target: Annotated[
        list[str] | None,
        typer.Option(metavar="GLOB", help="White-box: parts of the compiler; `eqfuzz generate parts` lists them."),
    ] = None,
    corpus: Annotated[
        list[Path] | None,
        typer.Option(metavar="PATH", help="Seeds that prompts show (evolve, fill-in); default: the shipped ones."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show prompts and their cost; send nothing.")] = False,
    run: Annotated[bool, typer.Option("--run", help="Then rewrite and compare the seeds, as `mutate` does.")] = False,
    strategy: Annotated[Strategy | None, typer.Option(help="With --run: how rewrites are chosen.")] = None,
    rules: Annotated[
        str, typer.Option(metavar="SELECTION", help="With --run: as in `mutate`; 'paper': the paper's ten transforms.")
    ] = "",
    variants: Annotated[int | None, typer.Option(min=0, help="With --run: variants per seed.")] = None,
    config: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="With --run: compile configuration; repeatable, comma lists, 'all'."),
    ] = None,
    time: Annotated[str | None, typer.Option(metavar="TIME", help="With --run: compare for so long at most.")] = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="Programs run at once (default: one per core).")] = None,
    unsafe: Annotated[
        bool, typer.Option("--unsafe", help="Where there can be no sandbox, run programs without (default: refuse).")
    ] = False,
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Seeds land in DIR/programs; what was answered is never asked again.")
    ] = Path("eqfuzz-out"),
    format: Annotated[
        OutputFormat, typer.Option(help="json: one event per line, the summary last.")
    ] = OutputFormat.TEXT,
    quiet: Annotated[bool, typer.Option("--quiet", help="Only findings, a line each, and the totals.")] = False,
    log_level: Annotated[
        LogLevel, typer.Option(case_sensitive=False, help="Log to stderr; DEBUG tells step timings.")
    ] = LogLevel.WARNING,
) -> None:
    """Seeds written by a language model, checked, and repaired by it.

    Nothing is sent anywhere but to the model that is named. The same command goes on where it was stopped; what is
    paid for is not paid again.

    Exit codes: 0 nothing found, 1 findings (--run), 2 usage or bad input, 3 internal error, 130 interrupted.
    """
    logs.start(log_level)
    try:
        only_running = (
            ("--strategy", strategy),
            ("--rules", rules),
            ("--variants", variants is not None),
            ("--config", config),
            ("--time", time),
        )
        without = [option for option, given in only_running if given and not run]
        if without:
            raise BadOption(without[0], "it is about comparing, so it goes with --run")
        if dry_run and run:
            raise BadOption("--dry-run", "there is nothing to run without seeds: leave out --run")
        prompts = _prompts(prompt or ["basic"])
        order = _order(
            model=model,
            prompts=prompts,
            count=count,
            budget=budget,
            base_url=base_url,
            key=(key_env, key_file),
            price=price,
            seed=seed,
            asking=(max_tokens, temperature, repairs),
            concurrency=concurrency,
            patience=(seconds_of(timeout, "--timeout"), attempts),
            program_seconds=seconds_of(program_timeout, "--program-timeout"),
            targets=split_names(target or []),
            corpus=tuple(corpus or ()),
            jobs=jobs or len(os.sched_getaffinity(0)),
            out=out,
            dry_run=dry_run,
            unsafe=unsafe,
        )
        limit = seconds_of(time, "--time") if time is not None else None
        settings = _settings(order, strategy, rules, variants, config or [], limit) if run else None
    except BadOption as error:
        complain(str(error))
        raise typer.Exit(USAGE) from None
    making = _LlmGeneration(order, settings, as_json=format is OutputFormat.JSON, quiet=quiet)
    action = making.show if dry_run else making.run
    kept = "nothing was sent" if dry_run else f"what was written is in {out}; the same command goes on"
    raise typer.Exit(ended(action, stopped=kept, keep=None if dry_run else out))


class _LlmGeneration:
    """One call of the verb."""

    def __init__(self, order: GenerationRequest, settings: Settings | None, *, as_json: bool, quiet: bool) -> None:
        self.order = order
        self.settings = settings
        self.as_json = as_json
        self.quiet = quiet

    def show(self) -> int:
        """The dry run."""
        from eqfuzz.errors import UsageError
        from eqfuzz.generate.llm.writer import show_prompts

        try:
            with self._report() as report:
                show_prompts(self.order, report.handle)
        except UsageError as error:
            complain(str(error))
            return USAGE
        return CLEAN

    def run(self) -> int:
        from eqfuzz.errors import UsageError
        from eqfuzz.events.llm import SampleEnded
        from eqfuzz.generate.llm.writer import write_seeds
        from eqfuzz.run.protocol import RunnerFailed

        files: list[Path] = []
        report = self._report()

        def handle(event: Event) -> None:
            if isinstance(event, SampleEnded) and event.file:
                files.append(Path(event.file))
            report.handle(event)

        try:
            with report:
                written = write_seeds(self.order, handle, runs=self.settings is not None)
        except UsageError as error:
            complain(str(error))
            return USAGE
        except RunnerFailed as error:
            complain(f"no process that runs programs could be started: {error}; `eqfuzz doctor` tells what is missing")
            return USAGE
        if written.interrupted:
            complain("interrupted")
            return INTERRUPTED
        if written.why == "endpoint":
            complain(f"{self.order.endpoint.host} does not answer: {written.trouble}; the same command goes on")
            return USAGE
        if self.settings is None:
            return CLEAN
        if not files:
            complain("no seed was accepted, so there is nothing to compare")
            return USAGE
        return self._compare(written, files)

    def _compare(self, written: WritingEnded, files: list[Path]) -> int:
        from eqfuzz.events.llm import CostReported
        from eqfuzz.events.run import Summary
        from eqfuzz.mutate.run import run
        from eqfuzz.report.generate.llm import WritingReport
        from eqfuzz.report.run.console import make_console

        assert self.settings is not None
        settings = dataclasses.replace(self.settings, paths=tuple(files))
        cost: list[CostReported] = []

        def with_cost(handler: Handler) -> Summary:
            def handle(event: Event) -> None:
                if isinstance(event, Summary):
                    cost.append(_cost(written, event))
                    handler(cost[0])
                handler(event)

            return run(settings, handle)

        code = reported(settings, with_cost, as_json=self.as_json, quiet=self.quiet)
        if cost and not self.as_json:
            WritingReport(make_console(), 0, quiet=self.quiet).handle(cost[0])
        return code

    def _report(self) -> Any:
        from eqfuzz.report.generate.llm import WritingReport
        from eqfuzz.report.machine.json_lines import JsonLines
        from eqfuzz.report.run.console import make_console

        if self.as_json:
            return JsonLines(sys.stdout)
        return WritingReport(make_console(), self.order.count, quiet=self.quiet)


def _cost(written: WritingEnded, summary: Summary) -> Any:
    from eqfuzz.events.llm import CostReported

    return CostReported(
        queries=written.queries,
        tokens=written.input_tokens + written.output_tokens,
        dollars=written.dollars,
        valid_share=written.valid_share,
        findings=summary.findings,
        buckets=summary.buckets,
        findings_per_dollar=round(summary.findings / written.dollars, 3) if written.dollars else None,
    )


def _order(
    *,
    model: str,
    prompts: tuple[Prompt, ...],
    count: int,
    budget: str,
    base_url: str,
    key: tuple[str | None, Path | None],
    price: str,
    seed: int,
    asking: tuple[int, float | None, int],
    concurrency: int,
    patience: tuple[float, int],
    program_seconds: float,
    targets: list[str],
    corpus: tuple[Path, ...],
    jobs: int,
    out: Path,
    dry_run: bool,
    unsafe: bool,
) -> GenerationRequest:
    """Raises BadOption."""
    from eqfuzz.generate.llm.model.client import RetryPolicy
    from eqfuzz.generate.llm.repair import RequestSettings
    from eqfuzz.generate.llm.request import GenerationRequest, amount_of, endpoint_of, parts_of

    with named_as_options():
        endpoint = endpoint_of(model, base_url, *key, silent=dry_run)
        amount = amount_of(endpoint, price)
        parts, all_parts = parts_of(prompts, targets)
    return GenerationRequest(
        endpoint=endpoint,
        price=amount,
        prompts=prompts,
        count=count,
        out=out,
        seed=seed,
        budget=dollars_of(budget, "--budget"),
        asking=RequestSettings(*asking),
        concurrency=concurrency,
        patience=RetryPolicy(timeout=patience[0], attempts=patience[1]),
        jobs=jobs,
        parts=parts,
        all_parts=all_parts,
        corpus=corpus,
        program_seconds=program_seconds,
        unsafe=unsafe,
    )


def _prompts(given: list[str]) -> tuple[Prompt, ...]:
    """Raises BadOption."""
    from eqfuzz.generate.llm.request import prompts_of

    with named_as_options():
        return prompts_of(split_names(given))


def _settings(
    order: GenerationRequest,
    strategy: Strategy | None,
    rules: str,
    variants: int | None,
    config: list[str],
    limit: float | None,
) -> Settings:
    """Raises BadOption."""
    from eqfuzz.mutate.settings import Settings
    from eqfuzz.triage.findings.known_issues import known_issue_files

    return Settings(
        paths=(),
        out=order.out,
        seed=order.seed,
        strategy=str(strategy or Strategy.EACH),
        variants=5 if variants is None else variants,
        rules=PAPER_RULES if rules == PAPER else rules,
        configs=configs_of(config, None),
        jobs=order.jobs,
        time=limit,
        known_issues=known_issue_files([]),
        unsafe=order.unsafe,
    )


def prompts(
    format: Annotated[OutputFormat, typer.Option(help="json: one object per prompt.")] = OutputFormat.TEXT,
) -> None:
    """List the prompts for language models."""
    from eqfuzz.generate.llm.prompt import shipped_prompts

    for name, prompt in shipped_prompts().items():
        if format is OutputFormat.JSON:
            print(json.dumps(dataclasses.asdict(prompt)))
        else:
            print(f"{name:16} {prompt.about}")


def parts(
    glob: Annotated[str, typer.Argument(metavar="GLOB", help="Names that fit, as 'pass:*', 'lowering:*'.")] = "*",
    format: Annotated[OutputFormat, typer.Option(help="json: one object per part.")] = OutputFormat.TEXT,
) -> None:
    """List the parts of the installed torch's compiler that a white-box prompt can show."""
    from eqfuzz.generate.llm.white_box import parts

    for name, part in parts().items():
        if not (fnmatch.fnmatchcase(name, glob) or part.label == glob):
            continue
        if format is OutputFormat.JSON:
            print(json.dumps({**part.to_json(), "place": part.place}))
        else:
            print(f"{name:60} {part.place}")
