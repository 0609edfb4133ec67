"""Runs one item of a campaign and collects its outcome."""

from __future__ import annotations

import dataclasses
import datetime
import threading
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from eqfuzz.campaign.configuration import USUAL_CONFIGS, Configuration
from eqfuzz.campaign.store.outcome import Outcome
from eqfuzz.campaign.store.records import Item
from eqfuzz.events.event import Event, Handler
from eqfuzz.events.run import CellJudged, FindingReported, LinesCovered, SeedDone, SeedInvalid
from eqfuzz.mutate.counters import SeedCounters
from eqfuzz.mutate.seed_run import TRIAGE, InternalError, OutOfTime, SeedRun
from eqfuzz.mutate.seed_runner import SeedRunner
from eqfuzz.mutate.settings import Settings
from eqfuzz.oracle.compare.checks import choose_checks
from eqfuzz.run.configs.named import DEFAULT_CONFIG, MUTATED, Config, choose, known_configs, open_to_seeds
from eqfuzz.run.protocol import RunnerFailed
from eqfuzz.triage.findings.buckets import bucket_id
from eqfuzz.triage.findings.finding import Finding
from eqfuzz.triage.findings.known_issues import known_as, known_issue_files, read_known_issues


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
    """Runs items in one pool of processes; any thread may call ``run_item``.

    Everything is written below ``out``. ``rules`` are the names of the selected ones. Raises ValueError for a
    configuration that cannot be used.
    """

    def __init__(self, configuration: Configuration, rules: Sequence[str], out: Path, jobs: int) -> None:
        compiling, judging = configuration.compiling, configuration.judging
        self._offered = known_configs(compiling.configs_from)
        self.seed_configs = open_to_seeds(compiling.configs, self._offered)
        """Those that a seed may name for itself."""
        names = [name for name in compiling.configs if name != MUTATED]
        chosen = choose(USUAL_CONFIGS if self.seed_configs else names, self._offered)
        mutates = [MUTATED] if MUTATED in compiling.configs else []
        self.configs = (*(config.name for config in chosen if names or not mutates), *mutates)
        """Names of the configurations of all other seeds; ``MUTATED`` stands for those that are mutated."""
        self.lowered = frozenset(
            name for name, config in self._offered.items() if config.backend == DEFAULT_CONFIG.backend
        )
        """Those that may end with graphs."""
        settings = Settings(
            out=out,
            jobs=jobs,
            rewriting=configuration.rewriting,
            compiling=compiling,
            judging=judging,
            checks=choose_checks(judging.check, judging.no_check),
            signals=True,
            untrusted=configuration.sources.untrusted,
            unsafe=configuration.sources.unsafe,
        )
        self.seeds = SeedRunner(settings, rules)
        self._issues = read_known_issues(known_issue_files(list(judging.known_issues)))

    def run_item(self, order: WorkOrder, emit: Handler, stop: threading.Event) -> ItemResult:
        """Run the item's seed to the end; findings are not emitted but returned.

        Raises ItemInterrupted where ``stop`` was set before, RunnerFailed when no process can be started.
        """
        collector = _OutcomeCollector(emit)
        options = order.item.options

        def is_confirmed(finding: Finding) -> bool:
            in_bucket = bool(finding.fingerprint) and bucket_id(finding.fingerprint) in options.buckets
            return in_bucket or known_as(finding, self._issues, datetime.date.today()) is not None

        settings = dataclasses.replace(
            self.seeds.settings,
            seed=options.seed,
            favoured=options.favoured,
            configs=(Config(**options.settings),) if options.settings else choose(options.configs, self._offered),
            traced=options.traced,
            graphs_first=options.graphs_first,
            known_symptoms=frozenset(options.met),
        )
        if options.first_call:
            settings = _of_first_call(settings)
        seed = self.seeds.seed_run(
            order.index,
            Path(order.item.name),
            collector.collect,
            stop,
            settings=settings,
            text=order.text,
            is_confirmed=is_confirmed,
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
        self.seeds.close()


class _OutcomeCollector:
    """Collects the outcome of one seed from its events, which it passes on to ``emit`` except for findings."""

    def __init__(self, emit: Handler) -> None:
        self._emit = emit
        self._invalid = ""
        self._counters = SeedCounters()
        self._rules: dict[int, tuple[str, ...]] = {}
        self._lines: dict[str, str] = {}
        self._done: SeedDone | None = None
        self._findings: list[FindingReported] = []

    def collect(self, event: Event) -> None:
        self._counters.count_event(event)
        match event:
            case FindingReported():
                self._findings.append(event)
                return
            case SeedInvalid(reason=reason):
                self._invalid = reason
            case CellJudged() if event.variant:
                self._rules[event.variant] = tuple(event.rules)
            case LinesCovered(files=files):
                self._lines = files
            case SeedDone():
                self._done = event
            case _:
                pass
        self._emit(event)

    def result(self, seed: SeedRun) -> ItemResult:
        """The result of ``seed``, which has run to the end."""
        done, counters = self._done, self._counters
        assert done is not None
        outcome = Outcome(
            state="invalid" if self._invalid else "done",
            reason=self._invalid,
            sites=counters.sites,
            variants=counters.variants,
            cells=counters.cells,
            erased=counters.erased,
            only_graphs=counters.only_graphs,
            verdicts=dict(sorted(counters.cell_verdicts.items())),
            seconds=round(done.seconds, 3),
            cpu_seconds=round(done.cpu_seconds, 3),
            triage_seconds=round(done.timings.get(TRIAGE, 0.0), 3),
            peak_mb=counters.peak_mb,
            features={variant: tuple(sorted(reached)) for variant, reached in seed.features.items() if reached},
            rules=self._rules,
            lines=self._lines,
            symptoms=tuple(sorted(seed.symptoms)),
        )
        texts = {variant: seed.source_of(variant) for variant in outcome.features if variant}
        return ItemResult(outcome, tuple(self._findings), texts)


def _of_first_call(settings: Settings) -> Settings:
    """The settings for a seed of which only the first input set is judged, without variants, other sizes and dtypes."""
    return dataclasses.replace(
        settings,
        rewriting=settings.rewriting.model_copy(update={"strategy": "none"}),
        compiling=settings.compiling.model_copy(update={"threaded": 0.0}),
        judging=settings.judging.model_copy(update={"steps": 0, "input_sets": 1}),
        own_random=False,
    )
