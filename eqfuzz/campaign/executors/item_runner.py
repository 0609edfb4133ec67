"""Runs one item of a campaign and collects its outcome."""

from __future__ import annotations

import dataclasses
import threading
from collections import Counter
from collections.abc import Collection, Mapping
from pathlib import Path

from eqfuzz.campaign.configuration import Configuration
from eqfuzz.campaign.store.outcome import Outcome
from eqfuzz.campaign.store.records import Item
from eqfuzz.events.event import Event, Handler
from eqfuzz.events.run import CellJudged, FindingReported, LinesCovered, SeedDone, SeedInvalid, SeedRewritten
from eqfuzz.mutate.seed_run import InternalError, OutOfTime, SeedRun
from eqfuzz.mutate.settings import Settings
from eqfuzz.oracle.compare.checks import choose_checks
from eqfuzz.rewrite.rules.library import select
from eqfuzz.rewrite.rules.user_rules import known_rules
from eqfuzz.run.configs.named import choose, known_configs
from eqfuzz.run.environment import Environment
from eqfuzz.run.kernels.cache_eviction import CacheEvictor
from eqfuzz.run.limits import Limits
from eqfuzz.run.processes.pool import Pool
from eqfuzz.run.protocol import RunnerFailed
from eqfuzz.triage.findings.versions import versions


class ItemInterrupted(Exception):
    """The item was interrupted and has to be run again."""


@dataclasses.dataclass(frozen=True)
class WorkOrder:
    """An item with the text of its seed. ``index`` numbers it in events."""

    item: Item
    text: str
    index: int


@dataclasses.dataclass(frozen=True)
class ItemResult:
    """What one run of an item gave; its findings have their folders."""

    outcome: Outcome
    findings: tuple[FindingReported, ...] = ()
    texts: Mapping[int, str] = dataclasses.field(default_factory=dict)
    """Texts of the variants that reached features, by variant."""

    def without_known(self, features: Collection[int], lines: Mapping[str, int]) -> ItemResult:
        """Without the features and lines given, and without the texts of variants that reach no other feature.

        What was reached before the item is done was also reached before its epoch is committed, so nothing is lost.
        """
        left = {
            variant: tuple(feature for feature in reached if feature not in features)
            for variant, reached in self.outcome.features.items()
        }
        left = {variant: reached for variant, reached in left.items() if reached}
        bitmaps = {file: int(bitmap, 16) & ~lines.get(file, 0) for file, bitmap in self.outcome.lines.items()}
        new_lines = {file: f"{bits:x}" for file, bits in bitmaps.items() if bits}
        return ItemResult(
            self.outcome.model_copy(update={"features": left, "lines": new_lines}),
            self.findings,
            {variant: text for variant, text in self.texts.items() if variant in left},
        )


class ItemRunner:
    """Runs items with the same settings and rules in one pool of processes; any thread may call ``run_item``.

    Everything is written below ``out``. Raises ValueError (or RuleError) for a configuration that cannot be used.
    """

    def __init__(self, configuration: Configuration, out: Path, jobs: int) -> None:
        compiling, rewriting = configuration.compiling, configuration.rewriting
        configs = choose(compiling.configs, known_configs(compiling.configs_from))
        self.configs = {config.name: config for config in configs}
        self.rules = tuple(r.name for r in select(known_rules(rewriting.rules_from), rewriting.rules))
        self._limits = Limits(compile_s=compiling.timeout)
        preload = compiling.preload.resolve() if compiling.preload else None
        shown = tuple(path.absolute() for path in rewriting.rules_from)
        self._environment = Environment(out.resolve(), preload, shown=shown, unsafe=configuration.sources.unsafe)
        self._settings = Settings(
            paths=(),
            out=out,
            strategy=rewriting.strategy,
            depth=rewriting.depth,
            variants=rewriting.variants,
            rules=rewriting.rules,
            devices=compiling.devices,
            jobs=jobs,
            preload=compiling.preload,
            runner=compiling.runner,
            threaded=compiling.threaded,
            compile_seconds=compiling.timeout,
            rules_from=rewriting.rules_from,
            checks=choose_checks(configuration.judging.check, configuration.judging.no_check),
            steps=configuration.judging.steps,
            input_sets=configuration.judging.input_sets,
            signals=True,
            untrusted=configuration.sources.untrusted,
            unsafe=configuration.sources.unsafe,
        )
        cuda = "cuda" in compiling.devices
        runner = "spawn" if compiling.runner == "spawn" else None
        self.pool = Pool(self._environment, self._limits, runner=runner, jobs=jobs, cuda=cuda)
        self._versions = versions()
        self._pruning = CacheEvictor(self._environment.caches())

    @property
    def environment(self) -> Environment:
        return self._environment

    def run_item(self, order: WorkOrder, emit: Handler, stop: threading.Event) -> ItemResult:
        """Run the item's seed to the end; findings are not emitted but returned.

        Raises ItemInterrupted where ``stop`` was set before, RunnerFailed when no process can be started.
        """
        self._pruning.due()
        collector = _OutcomeCollector(emit)
        options = order.item.options
        settings = dataclasses.replace(
            self._settings,
            seed=options.seed,
            favoured=options.favoured,
            configs=choose(options.configs, self.configs),
            traced=options.traced,
            met=frozenset(options.met),
        )
        seed = SeedRun(
            index=order.index,
            path=Path(order.item.name),
            settings=settings,
            rules=self.rules,
            pool=self.pool,
            environment=self._environment,
            limits=self._limits,
            versions=self._versions,
            emit=collector.collect,
            stop=stop,
            deadline=None,
            text=order.text,
        )
        try:
            seed.run()
        except OutOfTime:
            raise ItemInterrupted from None
        except RunnerFailed:
            if stop.is_set():  # the pool was closed together with it
                raise ItemInterrupted from None
            raise
        except InternalError as error:
            if stop.is_set():
                raise ItemInterrupted from None
            return ItemResult(
                Outcome(state="error", reason=str(error), details=error.details, cpu_seconds=seed.cpu_seconds)
            )
        return collector.result(seed)

    def close(self) -> None:
        """End all processes; running items are interrupted."""
        self.pool.close()


class _OutcomeCollector:
    """Collects the outcome of one seed from its events, which it passes on to ``emit`` except for findings."""

    def __init__(self, emit: Handler) -> None:
        self._emit = emit
        self._invalid = ""
        self._sites = 0
        self._variants = 0
        self._cells = 0
        self._erased = 0
        self._verdicts: Counter[str] = Counter()
        self._rules: dict[int, tuple[str, ...]] = {}
        self._lines: dict[str, str] = {}
        self._done: SeedDone | None = None
        self._findings: list[FindingReported] = []

    def collect(self, event: Event) -> None:
        match event:
            case FindingReported():
                self._findings.append(event)
                return
            case SeedInvalid(reason=reason):
                self._invalid = reason
            case SeedRewritten(sites=sites, variants=variants):
                self._sites, self._variants = sites, variants
            case CellJudged():
                if event.variant:
                    self._rules[event.variant] = tuple(event.rules)
                if event.config:
                    self._cells += 1
                    self._erased += event.erased
                    self._verdicts[str(event.verdict.kind)] += 1
            case LinesCovered(files=files):
                self._lines = files
            case SeedDone():
                self._done = event
            case _:
                pass
        self._emit(event)

    def result(self, seed: SeedRun) -> ItemResult:
        """The result of ``seed``, which has run to the end."""
        done = self._done
        assert done is not None
        outcome = Outcome(
            state="invalid" if self._invalid else "done",
            reason=self._invalid,
            sites=self._sites,
            variants=self._variants,
            cells=self._cells,
            erased=self._erased,
            verdicts=dict(sorted(self._verdicts.items())),
            seconds=round(done.seconds, 3),
            cpu_seconds=round(done.cpu_seconds, 3),
            peak_mb=done.peak_mb,
            features={variant: tuple(sorted(reached)) for variant, reached in seed.features.items() if reached},
            rules=self._rules,
            lines=self._lines,
            symptoms=tuple(sorted(seed.shown)),
        )
        texts = {variant: seed.source_of(variant) for variant in outcome.features if variant}
        return ItemResult(outcome, tuple(self._findings), texts)
