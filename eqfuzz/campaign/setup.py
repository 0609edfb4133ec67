"""Setup of a campaign: folder, store, sources, rules, executor and self-check, then the loop."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

from eqfuzz.campaign.configuration import Configuration
from eqfuzz.campaign.engine.disk_space import remove_leftovers
from eqfuzz.campaign.engine.dispatch import EventDispatcher
from eqfuzz.campaign.engine.loop import CampaignInvocation, CampaignLoop
from eqfuzz.campaign.engine.plan import SearchSpace
from eqfuzz.campaign.executors.item_runner import ItemRunner
from eqfuzz.campaign.executors.local import Executor, LocalExecutor
from eqfuzz.campaign.invocation import InvocationOptions, open_store
from eqfuzz.campaign.metrics import CampaignMetrics
from eqfuzz.campaign.sources.catalogues import CatalogueReader, CatalogueSeeds
from eqfuzz.campaign.sources.files import SeedFiles, SeedSource, TemplateSeeds
from eqfuzz.errors import UsageError
from eqfuzz.events.campaign import CampaignSummary
from eqfuzz.events.event import Handler
from eqfuzz.generate.dag.generate import ProgramGenerator
from eqfuzz.generate.dag.template import InvalidTemplate, ProgramTemplate, is_file_name, templates_named
from eqfuzz.mutate.bucketing import Bucketer
from eqfuzz.mutate.run import require_sandbox
from eqfuzz.mutate.seed_runner import failed_step, selected_rules
from eqfuzz.program.pools.seed_files import seed_files
from eqfuzz.program.shipped import folder
from eqfuzz.rewrite.rules.rule import RuleError
from eqfuzz.run.configs.named import MUTATED
from eqfuzz.run.configs.options import SAMPLED_MODULES, options_of
from eqfuzz.triage.findings.known_issues import known_issue_files, read_known_issues

if TYPE_CHECKING:
    from eqfuzz.campaign.sources.llm import LlmSeeds

RAY = "ray"
MODEL_FOLDER = "model"
"""Folder of the language model's programs and response log, below a campaign's folder."""


def run_campaign(
    configuration: Configuration, options: InvocationOptions, metrics: CampaignMetrics, handler: Handler
) -> CampaignSummary:
    """Run until a budget is spent or Ctrl-C, counting in ``metrics``; the campaign's folder exists at the first event.

    Raises UsageError, StoreError, and RunnerFailed when no process that imports torch can be started.
    """
    try:
        options.folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"--out: {options.folder}: {error.strerror}") from None
    remove_leftovers(options.folder)
    if configuration.has_untrusted and "cuda" in configuration.compiling.devices:
        raise UsageError("untrusted seeds run in the sandbox, which has no CUDA: leave out --device cuda")
    seeds = configuration.sources.seeds
    require_sandbox(
        seed_files(seeds) if seeds else [],
        untrusted=configuration.has_untrusted,
        unsafe=configuration.sources.unsafe,
    )
    try:
        sources = sources_of(configuration)
        rules = selected_rules(configuration.rewriting)
        runner = ItemRunner(configuration, [rule.name for rule in rules], options.folder, max(options.jobs, 1))
        known_issues = known_issue_files(list(configuration.judging.known_issues))
        bucketer = Bucketer(options.folder, read_known_issues(known_issues))
    except (RuleError, ValueError) as error:
        raise UsageError(str(error)) from None
    events = EventDispatcher(metrics, handler)
    with contextlib.closing(runner), open_store(options) as store, contextlib.ExitStack() as stack:
        reader = stack.enter_context(CatalogueReader(options.folder))
        catalogues = configuration.sources.drawn_catalogues()
        sources = [*sources, *(CatalogueSeeds(name, reader, configuration.seed) for name in catalogues)]
        llm_source = _llm_source_of(configuration, options.folder / MODEL_FOLDER, events)
        if llm_source is not None:
            stack.enter_context(llm_source)
            sources = [*sources, llm_source]
        executor = stack.enter_context(contextlib.closing(executor_of(configuration, options, runner)))

        def check_oracle(emit: Handler) -> str:
            problem = failed_step(runner.seeds.self_check(), emit)
            if options.executor == RAY:
                runner.close()  # items run elsewhere
            return problem

        invocation = CampaignInvocation(
            name=options.name,
            out=options.folder,
            store=store,
            executor=executor,
            executor_name=options.executor,
            space=SearchSpace(
                sources,
                sorted({rule.family for rule in rules}),
                runner.configs,
                runner.lowered if configuration.compiling.devices == ("cpu",) else frozenset[str](),
                frozenset(runner.seed_configs),
                options_of(SAMPLED_MODULES).sampled if MUTATED in runner.configs else (),
            ),
            rules=len(rules),
            check_oracle=check_oracle,
            llm_source=llm_source,
        )
        return CampaignLoop(configuration, invocation, bucketer, events).run()


def executor_of(configuration: Configuration, options: InvocationOptions, runner: ItemRunner) -> Executor:
    """The executor that the options name. Raises UsageError."""
    if options.executor == RAY:
        from eqfuzz.campaign.executors.ray import RayExecutor

        return RayExecutor(configuration, options.folder, options.jobs, options.ray_address)
    return LocalExecutor(runner, options.jobs)


def sources_of(configuration: Configuration) -> list[SeedSource]:
    """The sources of seeds that the configuration names. Raises UsageError."""
    chosen = configuration.sources
    paths = (folder("seeds"),) if chosen.seeds is None else chosen.seeds
    sources: list[SeedSource] = [SeedFiles(f"folder:{path.name or path}", seed_files([path])) for path in paths]
    templates: dict[str, ProgramTemplate] = {}
    for name in chosen.templates:
        try:
            named = templates_named(name)
        except InvalidTemplate as error:
            raise UsageError(f"--template: {error}") from None
        if not is_file_name(name):
            limit = chosen.operators
            named = {key: one.model_copy(update={"nodes": min(one.nodes, limit)}) for key, one in named.items()}
        templates |= named
    for template in templates.values():
        sources.append(TemplateSeeds(template.name, ProgramGenerator(template), configuration.seed))
    if not sources and not configuration.model.name and not chosen.drawn_catalogues():
        raise UsageError("no source of seeds: give seeds, templates, catalogues or a model")
    return sources


def _llm_source_of(configuration: Configuration, out: Path, events: EventDispatcher) -> LlmSeeds | None:
    """The source that asks the configuration's model; None without a model. Raises UsageError."""
    if not configuration.model.name:
        return None
    from eqfuzz.campaign.sources.llm import LlmSeeds, llm_request_of  # the validation of programs imports torch

    return LlmSeeds(llm_request_of(configuration, out), events.emit, events.metrics.record_spending)
