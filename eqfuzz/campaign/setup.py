"""A campaign made ready: its folder and store opened, its sources and rules read, the oracle checked, then run."""

from __future__ import annotations

import contextlib
import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING

from eqfuzz.campaign.configuration import Configuration
from eqfuzz.campaign.engine.disk_space import remove_leftovers
from eqfuzz.campaign.engine.loop import CampaignInvocation, CampaignLoop
from eqfuzz.campaign.executors.item_runner import ItemRunner
from eqfuzz.campaign.executors.local import Executor, LocalExecutor
from eqfuzz.campaign.metrics import Statistics
from eqfuzz.campaign.sources.files import SeedFiles, SeedSource, TemplateSeeds
from eqfuzz.campaign.store.store import Store, StoreError
from eqfuzz.errors import UsageError
from eqfuzz.events.campaign import CampaignSummary
from eqfuzz.events.event import Handler
from eqfuzz.generate.dag.generate import MIXED, ProgramGenerator
from eqfuzz.generate.dag.template import InvalidTemplate, shipped_templates, template_of
from eqfuzz.mutate.bucketing import Bucketer
from eqfuzz.mutate.run import require_sandbox, seed_files
from eqfuzz.mutate.self_check import quick_steps
from eqfuzz.program.shipped import folder
from eqfuzz.rewrite.rules.library import select
from eqfuzz.rewrite.rules.rule import RuleError
from eqfuzz.rewrite.rules.user_rules import known_rules
from eqfuzz.triage.findings.known_issues import known_issue_files, read_known_issues

if TYPE_CHECKING:
    from eqfuzz.campaign.sources.llm import LlmSeeds

STORE_FILE = "campaigns.db"
RAY = "ray"
MODEL_FOLDER = "model"
"""Of a campaign's folder: what a language model wrote, and what was paid for it."""


@dataclasses.dataclass(frozen=True)
class InvocationOptions:
    """What a call is given besides the configuration: none of it changes what the campaign finds.

    ``out`` holds one folder for each campaign and, without a ``url``, the store of all. ``jobs`` 0, with a
    ``ray_address``: one for each CPU (or GPU) of the cluster.
    """

    name: str
    out: Path
    url: str = ""
    jobs: int = 1
    executor: str = "local"
    ray_address: str = ""

    @property
    def folder(self) -> Path:
        return self.out / self.name

    @property
    def store_url(self) -> str:
        return self.url or f"sqlite:///{(self.out / STORE_FILE).absolute()}"


def run_campaign(
    configuration: Configuration, options: InvocationOptions, statistics: Statistics, handler: Handler
) -> CampaignSummary:
    """Run until a budget is spent or Ctrl-C, keeping ``statistics`` up to date. The folder is there at the first event.

    Raises UsageError, StoreError, and RunnerFailed when no process that imports torch can be started.
    """
    try:
        options.folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"--out: {options.folder}: {error.strerror}") from None
    remove_leftovers(options.folder)
    given = configuration.sources
    if configuration.has_untrusted and "cuda" in configuration.compiling.devices:
        raise UsageError("what is not trusted runs in the sandbox, and that has no CUDA: leave out --device cuda")
    paths = seed_files(given.seeds) if given.seeds else []
    require_sandbox(paths, untrusted=configuration.has_untrusted, unsafe=given.unsafe)
    try:
        sources = sources_of(configuration)
        families = families_of(configuration)
        workshop = ItemRunner(configuration, options.folder, max(options.jobs, 1))
        known_issues = known_issue_files(list(configuration.judging.known_issues))
        sorting = Bucketer(options.folder, read_known_issues(known_issues))
    except (RuleError, ValueError) as error:
        raise UsageError(str(error)) from None
    try:
        with open_store(options) as store, contextlib.ExitStack() as stack:
            writer = _writer_of(configuration, options.folder / MODEL_FOLDER)
            if writer is not None:
                stack.enter_context(writer)
                statistics.spending = writer.figures
                sources = [*sources, writer]
            executor = stack.enter_context(contextlib.closing(executor_of(configuration, options, workshop)))
            problem = _untrusted_oracle(configuration, workshop, handler)
            if problem:
                raise UsageError(f"the self-check fails, so nothing was run: {problem}")
            if options.executor == RAY:
                workshop.close()  # the check was all that it is for
            call = CampaignInvocation(
                name=options.name,
                out=options.folder,
                store=store,
                executor=executor,
                executor_name=options.executor,
                sources=sources,
                families=families,
                configs=tuple(workshop.configs),
                rules=len(workshop.rules),
                writer=writer,
            )
            return CampaignLoop(configuration, call, sorting, statistics, handler).run()
    finally:
        workshop.close()


def open_store(options: InvocationOptions) -> Store:
    """The store of the campaigns below ``options.out``. Raises StoreError."""
    try:
        options.out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"--out: {options.out}: {error.strerror}") from None
    return Store.open(options.store_url, options.out / "store")


def executor_of(configuration: Configuration, options: InvocationOptions, workshop: ItemRunner) -> Executor:
    """Who does the items. Raises UsageError."""
    if options.executor == RAY:
        from eqfuzz.campaign.executors.ray import RayExecutor

        return RayExecutor(configuration, options.folder, options.jobs, options.ray_address)
    return LocalExecutor(workshop, options.jobs)


def sources_of(configuration: Configuration) -> list[SeedSource]:
    """The sources of seeds that the configuration names. Raises UsageError."""
    given = configuration.sources
    paths = (folder("seeds"),) if given.seeds is None else given.seeds
    sources: list[SeedSource] = [SeedFiles(f"folder:{path.name or path}", seed_files([path])) for path in paths]
    shipped = shipped_templates()
    names = [name for one in given.templates for name in (shipped if one == MIXED else (one,))]
    for name in dict.fromkeys(names):
        try:
            template = shipped[name] if name in shipped else template_of(Path(name))
        except InvalidTemplate as error:
            raise UsageError(f"sources.templates: {error}; shipped: {', '.join(shipped)}, {MIXED}") from None
        sources.append(TemplateSeeds(template.name, ProgramGenerator(template), configuration.seed))
    if not sources and not configuration.model.name:
        raise UsageError("no source of seeds: give seeds, templates or a model")
    return sources


def _writer_of(configuration: Configuration, out: Path) -> LlmSeeds | None:
    """The source that asks the model which the configuration names. Raises UsageError."""
    if not configuration.model.name:
        return None
    from eqfuzz.campaign.sources.llm import llm_source_of  # what checks programs imports torch

    return llm_source_of(configuration, out)


def families_of(configuration: Configuration) -> tuple[str, ...]:
    """The families of the rules chosen. Raises ValueError."""
    rewriting = configuration.rewriting
    rules = select(known_rules(rewriting.rules_from), rewriting.rules)
    return tuple(sorted({rule.family for rule in rules}))


def _untrusted_oracle(configuration: Configuration, workshop: ItemRunner, handler: Handler) -> str:
    """What the quick self-check finds wrong; not asked where the user changes the compiler by a preload."""
    if configuration.compiling.preload is not None:
        return ""
    workshop.environment.keep_caches_here()
    for step in quick_steps(workshop.pool):
        handler(step)
        if not step.passed:
            return f"{step.step}: {step.detail}"
    return ""
