"""``eqfuzz generate llm``: seeds written by a language model."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from eqfuzz.cli import logs
from eqfuzz.cli.exit_codes import CLEAN, INTERRUPTED, complain
from eqfuzz.cli.exit_handling import exit_code_of_long_run
from eqfuzz.cli.options.common import (
    OUT,
    EventFormat,
    Jobs,
    LogLevel,
    LogLevelOption,
    Out,
    OutputFormat,
    Quiet,
    RandomSeed,
    Time,
    Unsafe,
)
from eqfuzz.cli.options.compiling import ConfigNames, ConfigsFrom
from eqfuzz.cli.options.generating import ThenRun
from eqfuzz.cli.options.model import (
    BaseUrl,
    Budget,
    Concurrency,
    KeyFile,
    KeyVariable,
    MaxTokens,
    Model,
    Price,
    ProgramTimeout,
    PromptCorpus,
    Prompts,
    Repairs,
    RequestAttempts,
    RequestTimeout,
    SeedCount,
    ShowPrompts,
    Targets,
    Temperature,
    request_options,
)
from eqfuzz.cli.options.reports import Reports, report_targets
from eqfuzz.cli.options.rewriting import OptionalStrategy, OptionalVariants, Rules, Strategy
from eqfuzz.cli.options.values import (
    BadOption,
    configs_of,
    dollars_of,
    job_count,
    seconds_of,
    split_names,
    time_limit,
)
from eqfuzz.cli.run_reporting import report_run
from eqfuzz.errors import UsageError

if TYPE_CHECKING:
    from eqfuzz.events.event import Event, Handler
    from eqfuzz.events.llm import CostReported, WritingEnded
    from eqfuzz.events.run import Summary
    from eqfuzz.generate.llm.prompt import Prompt
    from eqfuzz.generate.llm.request import GenerationRequest
    from eqfuzz.mutate.settings import Settings
    from eqfuzz.report.machine.report_format import ReportTarget
    from eqfuzz.run.configs.named import Config


def llm(
    model: Model = "",
    prompt: Prompts = None,
    count: SeedCount = 10,
    budget: Budget = "",
    base_url: BaseUrl = "",
    key_env: KeyVariable = None,
    key_file: KeyFile = None,
    price: Price = "",
    seed: RandomSeed = 0,
    repairs: Repairs = 2,
    max_tokens: MaxTokens = 2048,
    temperature: Temperature = None,
    concurrency: Concurrency = 8,
    attempts: RequestAttempts = 5,
    timeout: RequestTimeout = "120",
    program_timeout: ProgramTimeout = "10",
    target: Targets = None,
    corpus: PromptCorpus = None,
    dry_run: ShowPrompts = False,
    run: ThenRun = False,
    strategy: OptionalStrategy = None,
    rules: Rules = "",
    variants: OptionalVariants = None,
    config: ConfigNames = None,
    configs_from: ConfigsFrom = None,
    time: Time = None,
    jobs: Jobs = None,
    unsafe: Unsafe = False,
    out: Out = OUT,
    format: EventFormat = OutputFormat.TEXT,
    quiet: Quiet = False,
    report: Reports = None,
    log_level: LogLevelOption = LogLevel.WARNING,
) -> None:
    """Generate seeds by a language model.

    Programs are checked, and repaired by the model, and are written to DIR/programs. Nothing is sent anywhere but to
    the model named. The same command resumes where it stopped: responses are kept, so nothing is paid for twice.
    --strategy, --rules ('paper': the ten transforms of Jin & Wan 2025), --variants, --config,
    --time and --report go with --run.

    Exit codes: 0 nothing found, 1 findings (--run), 2 usage or bad input, 3 internal error, 130 interrupted.
    """
    logs.start(log_level)
    for option, value in (
        ("--strategy", strategy),
        ("--rules", rules),
        ("--variants", variants is not None),
        ("--config", config),
        ("--configs-from", configs_from),
        ("--time", time),
        ("--report", report),
    ):
        if value and not run:
            raise BadOption(option, "it is about comparing, so it goes with --run")
    if dry_run and run:
        raise BadOption("--dry-run", "there is nothing to run without seeds: leave out --run")
    prompts = _prompts(prompt or ["basic"])
    request = _request(
        model=model,
        prompts=prompts,
        count=count,
        budget=budget,
        base_url=base_url,
        key_env=key_env,
        key_file=key_file,
        price=price,
        seed=seed,
        max_tokens=max_tokens,
        temperature=temperature,
        repairs=repairs,
        concurrency=concurrency,
        response_seconds=seconds_of(timeout, "--timeout"),
        attempts=attempts,
        program_seconds=seconds_of(program_timeout, "--program-timeout"),
        targets=split_names(target),
        corpus=tuple(corpus or ()),
        jobs=job_count(jobs),
        out=out,
        dry_run=dry_run,
        unsafe=unsafe,
    )
    configs = configs_of(config, configs_from)
    settings = _settings(request, strategy, rules, variants, configs, time_limit(time)) if run else None
    reports = report_targets(report)
    generation = _LlmGeneration(request, settings, reports, as_json=format is OutputFormat.JSON, quiet=quiet)
    if dry_run:
        raise typer.Exit(exit_code_of_long_run(generation.show, stopped="nothing was sent"))
    stopped = f"seeds so far are in {out}; the same command resumes"
    raise typer.Exit(exit_code_of_long_run(generation.run, stopped=stopped, errors_in=out))


class _LlmGeneration:
    """One invocation; with ``settings`` it compares the seeds afterwards."""

    def __init__(
        self,
        request: GenerationRequest,
        settings: Settings | None,
        reports: Sequence[ReportTarget],
        *,
        as_json: bool,
        quiet: bool,
    ) -> None:
        self.request = request
        self.settings = settings
        self.reports = reports
        self.as_json = as_json
        self.quiet = quiet

    def show(self) -> int:
        """The dry run."""
        from eqfuzz.generate.llm.writer import show_prompts

        with self._report() as report:
            show_prompts(self.request, report.handle)
        return CLEAN

    def run(self) -> int:
        from eqfuzz.events.llm import SampleEnded
        from eqfuzz.generate.llm.writer import write_seeds

        files: list[Path] = []
        report = self._report()

        def handle(event: Event) -> None:
            if isinstance(event, SampleEnded) and event.file:
                files.append(Path(event.file))
            report.handle(event)

        with report:
            written = write_seeds(self.request, handle, runs=self.settings is not None)
        if written.interrupted:
            complain("interrupted")
            return INTERRUPTED
        if written.why == "endpoint":
            host = self.request.endpoint.host
            raise UsageError(f"{host} does not answer: {written.trouble}; the same command resumes")
        if self.settings is None:
            return CLEAN
        if not files:
            raise UsageError("no seed was accepted, so there is nothing to compare")
        return self._compare(dataclasses.replace(self.settings, paths=tuple(files)), written)

    def _compare(self, settings: Settings, written: WritingEnded) -> int:
        from eqfuzz.events.run import Summary
        from eqfuzz.mutate.run import run
        from eqfuzz.report.generate.llm import WritingReport
        from eqfuzz.report.terminal import make_console

        costs: list[CostReported] = []

        def run_with_cost(handler: Handler) -> Summary:
            def handle(event: Event) -> None:
                if isinstance(event, Summary):
                    costs.append(_cost(written, event))
                    handler(costs[0])
                handler(event)

            return run(settings, handle)

        code = report_run(settings, run_with_cost, as_json=self.as_json, quiet=self.quiet, reports=self.reports)
        if costs and not self.as_json:
            WritingReport(make_console(), 0, quiet=self.quiet).handle(costs[0])
        return code

    def _report(self) -> Any:
        from eqfuzz.report.generate.llm import WritingReport
        from eqfuzz.report.machine.json_lines import JsonLines
        from eqfuzz.report.terminal import make_console

        if self.as_json:
            return JsonLines(sys.stdout)
        return WritingReport(make_console(), self.request.count, quiet=self.quiet)


def _cost(written: WritingEnded, summary: Summary) -> CostReported:
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


def _request(
    *,
    model: str,
    prompts: tuple[Prompt, ...],
    count: int,
    budget: str,
    base_url: str,
    key_env: str | None,
    key_file: Path | None,
    price: str,
    seed: int,
    max_tokens: int,
    temperature: float | None,
    repairs: int,
    concurrency: int,
    response_seconds: float,
    attempts: int,
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

    with request_options():
        endpoint = endpoint_of(model, base_url, key_env, key_file, silent=dry_run)
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
        settings=RequestSettings(max_tokens, temperature, repairs),
        concurrency=concurrency,
        retry_policy=RetryPolicy(timeout=response_seconds, attempts=attempts),
        jobs=jobs,
        parts=parts,
        all_parts=all_parts,
        corpus=corpus,
        program_seconds=program_seconds,
        unsafe=unsafe,
    )


def _prompts(texts: list[str]) -> tuple[Prompt, ...]:
    """Raises BadOption."""
    from eqfuzz.generate.llm.request import prompts_of

    with request_options():
        return prompts_of(split_names(texts))


def _settings(
    request: GenerationRequest,
    strategy: Strategy | None,
    rules: str,
    variants: int | None,
    configs: tuple[Config, ...],
    limit: float | None,
) -> Settings:
    """Raises BadOption."""
    from eqfuzz.mutate.settings import RewriteSettings, Settings
    from eqfuzz.triage.findings.known_issues import known_issue_files

    return Settings(
        paths=(),
        out=request.out,
        seed=request.seed,
        rewriting=RewriteSettings(
            strategy=(strategy or Strategy.EACH).value,
            variants=5 if variants is None else variants,
            rules=rules,
        ),
        configs=configs,
        jobs=request.jobs,
        time=limit,
        known_issues=known_issue_files([]),
        unsafe=request.unsafe,
    )
