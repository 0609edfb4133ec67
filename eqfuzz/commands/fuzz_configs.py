"""``eqfuzz config tuples`` and ``random``: seeds as they are, under sampled compile configurations."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from eqfuzz.commands.judged_configs import BadState, ConfigState, JudgedConfig
from eqfuzz.errors import UsageError
from eqfuzz.events.configs import ConfigsSampled
from eqfuzz.events.event import Event, Handler
from eqfuzz.events.run import CellJudged, FindingReported, Summary
from eqfuzz.mutate import run as mutate
from eqfuzz.mutate.counters import RunCounters
from eqfuzz.mutate.settings import RewriteSettings, Settings
from eqfuzz.program.formats import read_program
from eqfuzz.program.pools.seed_files import seed_files
from eqfuzz.program.program import InvalidSeed, Program
from eqfuzz.program.release import this_release
from eqfuzz.run.configs.named import DEFAULT_CONFIG, Config
from eqfuzz.run.configs.options import SAMPLED_MODULES, SampledOptions, UnknownOption, options_of
from eqfuzz.run.configs.sampling import randomly, tuples
from eqfuzz.triage.findings.finding import Finding


@dataclasses.dataclass(frozen=True)
class SamplingPlan:
    """How configurations are sampled.

    Attributes:
        method: ``tuples``: ``n`` options at a time, each tuple once; ``random``: every option with probability ``p``.
        modules: Those of ``SAMPLED_MODULES`` whose options are taken.
        only: Names of the options to take, Dynamo's as ``dynamo.NAME``; empty: all.
        n: Options in a tuple.
        limit: Largest number of tuples.
        attempts: Number of random configurations.
        p: Probability between 0 and 1 that an option is changed.
    """

    method: Literal["tuples", "random"]
    modules: tuple[str, ...] = SAMPLED_MODULES
    only: tuple[str, ...] = ()
    n: int = 2
    limit: int = 100
    attempts: int = 20
    p: float = 0.1


def sample_configs(sampling: SamplingPlan, seed: int) -> tuple[list[Config], SampledOptions]:
    """The configurations, and the options that they were drawn from. Raises UsageError."""
    options = options_of(sampling.modules)
    try:
        chosen = options.chosen(sampling.only)
    except UnknownOption as error:
        raise UsageError(f"--only: {error}") from None
    if sampling.method == "random":
        return randomly(chosen, sampling.attempts, sampling.p, seed), options
    if len(chosen) < sampling.n:
        raise UsageError(f"-n {sampling.n}: there are {len(chosen)} options to choose from")
    return tuples(chosen, sampling.n, sampling.limit, seed), options


def run(settings: Settings, sampling: SamplingPlan, handler: Handler) -> Summary:
    """Judge every sampled configuration on every seed that is not judged yet; the first event counts both.

    The summary counts findings that an earlier run has made of configurations asked for, too. Raises UsageError and
    RunnerFailed.
    """
    configs, options = sample_configs(sampling, settings.seed)
    if not configs:
        raise UsageError("no configuration was sampled: raise --attempts or --p")
    keeper = _ConfigVerdictLog(settings, configs, handler)
    handler(
        ConfigsSampled(
            configs=[config.name for config in configs],
            options=len(options.chosen(sampling.only)),
            left_out=options.reasons(),
            cells=len(keeper.open),
            judged=len(keeper.judged),
            known=keeper.known,
        )
    )
    if not keeper.paths:
        summary = RunCounters().summary(
            seed=settings.seed, interrupted=False, out_of_time=False, left_out=[], seconds=0.0, cpu_seconds=0.0
        )
        keeper.handle(summary)
        return keeper.with_known(summary)
    # A symptom that stock settings have too is reported once, for them.
    requested = dataclasses.replace(
        settings,
        paths=tuple(keeper.paths),
        rewriting=RewriteSettings(strategy="none", variants=0),
        configs=(DEFAULT_CONFIG, *configs),
        judged=frozenset(keeper.judged),
        baseline=DEFAULT_CONFIG.name,
    )
    return keeper.with_known(mutate.run(requested, keeper.handle))


class _ConfigVerdictLog:
    """The cells that were judged and those still open; writes new verdicts to the state file."""

    def __init__(self, settings: Settings, configs: Sequence[Config], handler: Handler) -> None:
        self._handler = handler
        self._configs = {config.name: config for config in configs}
        self._under = _circumstances(settings)
        self._programs: dict[str, Program] = {}
        self._verdicts: dict[tuple[str, str], JudgedConfig] = {}
        self.open: list[tuple[str, str]] = []
        self.judged: list[tuple[str, str]] = []
        self.known: list[str] = []
        self.paths: list[Path] = []
        try:
            self._state = ConfigState(settings.out)
        except BadState as error:
            raise UsageError(f"--out: {error}") from None
        for path in seed_files(settings.paths):
            if self._take(path):
                self.paths.append(path)
        if self.judged and not self.open:
            self.paths.clear()  # the other paths are invalid seeds, reported by the earlier run
        self.known = list(dict.fromkeys(self.known))

    def handle(self, event: Event) -> None:
        """Record the verdict or finding in an event, and hand it on."""
        match event:
            case CellJudged(config=config) if config in self._configs:
                self._keep(event)
            case FindingReported(finding=finding):
                self._name(finding)
            case _:
                pass
        self._handler(self.with_known(event) if isinstance(event, Summary) else event)

    def with_known(self, summary: Summary) -> Summary:
        """``summary`` with the findings of an earlier run on the same cells."""
        again = {judged.finding for judged in self._verdicts.values()}
        return dataclasses.replace(summary, findings=summary.findings + len(set(self.known) - again))

    def _name(self, finding: Finding) -> None:
        """Record the finding's id for its cells: its own, or all with the symptom of stock settings."""
        seed, kind = finding.original.name, str(finding.verdict.kind)
        for (name, config), judged in list(self._verdicts.items()):
            stock = finding.config == DEFAULT_CONFIG.name and judged.kind == kind and not judged.finding
            if name == seed and (config == finding.config or stock):
                judged = dataclasses.replace(judged, finding=finding.id)
                self._verdicts[name, config] = judged
                self._state.add(judged)

    def _take(self, path: Path) -> bool:
        """Whether cells of this seed are open; True for an invalid seed, which the run will report."""
        name = str(path)
        try:
            program = read_program(path, name)
        except InvalidSeed:
            return True
        self._programs[name] = program
        before = len(self.open)
        for config in self._configs.values():
            earlier = self._state.lookup(self._entry(name, config).key)
            if earlier is None:
                self.open.append((name, config.name))
                continue
            self.judged.append((name, config.name))
            if earlier.is_finding:
                self.known.append(earlier.finding or earlier.config)
        return len(self.open) > before

    def _keep(self, cell: CellJudged) -> None:
        entry = self._entry(cell.seed, self._configs[cell.config])
        judged = dataclasses.replace(entry, kind=str(cell.verdict.kind), message=cell.verdict.message)
        self._verdicts[cell.seed, cell.config] = judged
        self._state.add(judged)

    def _entry(self, name: str, config: Config) -> JudgedConfig:
        values = {"inductor": config.inductor, "dynamo": config.dynamo}
        return JudgedConfig(name, self._programs[name].digest, config.name, values, self._under, kind="", message="")


def _circumstances(settings: Settings) -> dict[str, Any]:
    """What decides the outcome besides program and configuration. Raises UsageError for an unreadable preload."""
    preload = settings.compiling.preload
    try:
        digest = hashlib.sha256(preload.read_bytes()).hexdigest()[:12] if preload else ""
    except OSError as error:
        raise UsageError(f"--preload: {preload}: {error.strerror}") from None
    return {
        **this_release().to_versions(),
        "preload": digest,
        "seed": settings.seed,
        "steps": settings.judging.steps,
        "input_sets": settings.judging.input_sets,
        "timeout": settings.compiling.timeout,
    }
