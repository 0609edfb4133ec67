"""One item of a campaign done: its seed run, and what came of that as an outcome."""

from __future__ import annotations

import dataclasses
import threading
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from eqfuzz.campaign.configuration import Configuration
from eqfuzz.campaign.feedback.novelty import empty_outcome
from eqfuzz.campaign.store.records import Item
from eqfuzz.events.event import Event
from eqfuzz.events.run import CellJudged, FindingReported, LinesCovered, SeedDone, SeedInvalid, SeedRewritten
from eqfuzz.mutate.seed_run import InternalError, OutOfTime, SeedRun
from eqfuzz.mutate.settings import Settings
from eqfuzz.oracle.compare.checks import CHECKS, DEFAULT_CHECKS
from eqfuzz.rewrite.rules.library import select
from eqfuzz.rewrite.rules.user_rules import known_rules
from eqfuzz.run.configs.named import BUILT_IN, Config, choose, read_configs
from eqfuzz.run.environment import Environment
from eqfuzz.run.kernels.cache_eviction import CacheEvictor
from eqfuzz.run.limits import Limits
from eqfuzz.run.processes.pool import Pool
from eqfuzz.run.protocol import RunnerFailed
from eqfuzz.triage.findings.versions import versions


class ItemInterrupted(Exception):
    """The item was stopped half-way: it is to be done again."""


@dataclasses.dataclass(frozen=True)
class ItemResult:
    """An outcome as the store keeps it, and the findings that were made, their folders in place."""

    outcome: dict[str, Any]
    findings: tuple[FindingReported, ...]


class ItemRunner:
    """What all items share: settings, rules, one pool of processes. ``perform`` may be called from several threads.

    Everything is written below ``out``. Raises ValueError (or RuleError) for a configuration that cannot be used.
    """

    def __init__(self, configuration: Configuration, out: Path, jobs: int) -> None:
        compiling, rewriting = configuration.compiling, configuration.rewriting
        self.configs = configs_of(configuration)
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
            checks=checks_of(configuration),
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

    def perform(
        self,
        item: Item,
        text: str,
        index: int,
        emit: Callable[[Event], None],
        stop: threading.Event,
    ) -> ItemResult:
        """Run the item's seed, whose text is ``text``, to the end.

        Raises CutOff where ``stop`` was set before, RunnerFailed when no process can be started.
        """
        self._pruning.due()
        outcome = _OutcomeCollector(emit)
        options = item.options
        settings = dataclasses.replace(
            self._settings,
            seed=options["seed"],
            favoured=tuple(options["favoured"]),
            configs=choose(options["configs"], self.configs),
            traced=options["traced"],
            met=frozenset(tuple(symptom) for symptom in options["met"]),
        )
        seed = SeedRun(
            index=index,
            path=Path(item.name),
            settings=settings,
            rules=self.rules,
            pool=self.pool,
            environment=self._environment,
            limits=self._limits,
            versions=self._versions,
            emit=outcome.take,
            stop=stop,
            deadline=None,
            text=text,
        )
        try:
            seed.run()
        except OutOfTime:
            raise ItemInterrupted from None
        except RunnerFailed:
            if stop.is_set():  # the pool is closed by whoever stopped it
                raise ItemInterrupted from None
            raise
        except InternalError as error:
            if stop.is_set():
                raise ItemInterrupted from None
            return ItemResult(
                {**empty_outcome("error", str(error)), "details": error.details, "cpu_seconds": seed.cpu_seconds}, ()
            )
        return ItemResult(outcome.closed(seed), tuple(outcome.findings))

    def close(self) -> None:
        """End all processes; what still runs ends as cut off."""
        self.pool.close()


class _OutcomeCollector:
    """Adds up the events of one seed on their way to ``emit``; findings stay here until they are sorted."""

    def __init__(self, emit: Callable[[Event], None]) -> None:
        self._emit = emit
        self._told = empty_outcome("done")
        self._verdicts: Counter[str] = Counter()
        self.findings: list[FindingReported] = []

    def take(self, event: Event) -> None:
        told = self._told
        match event:
            case FindingReported():
                self.findings.append(event)
                return
            case SeedInvalid(reason=reason):
                told["state"], told["reason"] = "invalid", reason
            case SeedRewritten(sites=sites, variants=variants):
                told["sites"], told["variants"] = sites, variants
            case CellJudged():
                if event.variant:
                    told["rules"][str(event.variant)] = event.rules
                if event.config:
                    told["cells"] += 1
                    told["erased"] += event.erased
                    self._verdicts[str(event.verdict.kind)] += 1
            case LinesCovered(files=files):
                told["lines"] = files
            case SeedDone(seconds=seconds, cpu_seconds=cpu_seconds, peak_mb=peak_mb):
                told["seconds"], told["cpu_seconds"] = round(seconds, 3), round(cpu_seconds, 3)
                told["peak_mb"] = peak_mb
            case _:
                pass
        self._emit(event)

    def closed(self, seed: SeedRun) -> dict[str, Any]:
        features = {str(variant): sorted(reached) for variant, reached in seed.features.items() if reached}
        texts = {variant: seed.source_of(int(variant)) for variant in features if variant != "0"}
        told = {"verdicts": dict(sorted(self._verdicts.items())), "shown": sorted(map(list, seed.shown))}
        return {**self._told, **told, "features": features, "texts": texts}


def without_known(outcome: dict[str, Any], features: Collection[int], lines: Mapping[str, int]) -> dict[str, Any]:
    """``outcome`` without what is known already, and without the texts of variants that reach nothing else.

    What is known when an item is done is known when its epoch is settled, so nothing is lost.
    """
    new = {variant: [f for f in reached if f not in features] for variant, reached in outcome["features"].items()}
    new = {variant: reached for variant, reached in new.items() if reached}
    bitmaps = {file: int(bitmap, 16) & ~lines.get(file, 0) for file, bitmap in outcome["lines"].items()}
    return {
        **outcome,
        "features": new,
        "texts": {variant: text for variant, text in outcome["texts"].items() if variant in new},
        "lines": {file: f"{bits:x}" for file, bits in bitmaps.items() if bits},
    }


def configs_of(configuration: Configuration) -> dict[str, Config]:
    """The configurations chosen, by name. Raises ValueError."""
    compiling = configuration.compiling
    known = read_configs(compiling.configs_from) if compiling.configs_from is not None else dict(BUILT_IN)
    names = list(known) if "all" in compiling.configs else list(compiling.configs)
    return {config.name: config for config in choose(names, known)}


def checks_of(configuration: Configuration) -> tuple[str, ...]:
    """The checks chosen. Raises ValueError."""
    judging = configuration.judging
    unknown = [name for name in (*judging.check, *judging.no_check) if name not in CHECKS]
    if unknown:
        raise ValueError(f"unknown check {unknown[0]!r}; known: {', '.join(CHECKS)}")
    chosen = dict.fromkeys((*DEFAULT_CHECKS, *judging.check))
    return tuple(name for name in chosen if name not in judging.no_check)
