"""Judges cells in this process: a variant against its original in eager, a compiled cell against eager."""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections.abc import Callable, Generator, Sequence
from functools import partial
from typing import Any, Protocol

from eqfuzz.oracle.compare.eager_judge import judge_rewrite, judge_self
from eqfuzz.oracle.compare.oracles import judge_compiled, judge_metadata
from eqfuzz.oracle.compare.single_result import ResultPlaces, result_alone
from eqfuzz.oracle.compare.speed import judge_speed
from eqfuzz.oracle.compare.value_digests import digests
from eqfuzz.oracle.compare.verdict import Verdict, VerdictKind
from eqfuzz.oracle.observe.observation import Observation
from eqfuzz.oracle.observe.observer import has_drawn, observe
from eqfuzz.oracle.reference.reference import Reference
from eqfuzz.oracle.thresholds import THRESHOLDS
from eqfuzz.run.configs.named import EXPORTING, Config
from eqfuzz.run.coverage.features import FeatureCollector
from eqfuzz.run.coverage.line_coverage import traced_lines
from eqfuzz.run.devices import observe_on
from eqfuzz.run.jobs.border_search import has_borders
from eqfuzz.run.jobs.loaded_program import LoadedVariant
from eqfuzz.run.jobs.several_threads import EAGER_RUNS, observed_again, several_threads
from eqfuzz.run.jobs.stage_timer import StageTimer
from eqfuzz.run.messages.job import Emit
from eqfuzz.run.messages.seed_jobs import CellReport, LinesTraced, ProgramJob, RunJob
from eqfuzz.run.processes.exit_reasons import NOT_RUN
from eqfuzz.torch_internals.dynamo import compilations, count_unbacked_graphs, forget_compiled_code
from eqfuzz.torch_internals.embedded.foreign_environments import FOREIGN
from eqfuzz.torch_internals.graph_borders import GraphBorders

_OTHER_DRAWS = 4
"""Eager runs with other random numbers, before a compiled one with other numbers is judged."""

_EAGER_CALLS_OF_RUN = 10
"""A noisy run in float64 takes no longer than so many runs in eager."""

_OF_VALUES = ("results", "side-effects", "gradients")
"""Checks of what graphs compute."""

_CONTEXT_SECONDS = 30
"""For the first use of a device in a process."""


Place = tuple[str, Config]
"""Device and configuration of a cell."""


class CellRunner(Protocol):
    """Judges cells of variants and reports each, when it is added or at the latest in ``finish``."""

    def add(self, subject: LoadedVariant, cells: Sequence[Place]) -> None: ...

    def finish(self) -> None: ...


class SequentialCells:
    """Compiled cells judged in this process, one after the other, on torch's stock path."""

    def __init__(self, job: RunJob, judge: CellJudge, emit: Emit) -> None:
        self._job = job
        self._judge = judge
        self._emit = emit

    def add(self, subject: LoadedVariant, cells: Sequence[Place]) -> None:
        """Judge and report them."""
        for device, config in cells:
            if subject.number > 0 and (device, config.name) in self._job.without_end:
                self._emit(not_run(subject.number, device, config))
            else:
                self._emit(self._judge.cell(subject, device, config))

    def finish(self) -> None:
        """Every cell was judged when it was added."""


def open_cells(job: RunJob, number: int) -> list[Place]:
    """The compiled cells of the original (0) or a variant that are not judged yet."""
    configs = [config for config in job.configs if number == 0 or config.name not in job.original_only]
    every = [(device, config) for device in job.devices for config in configs]
    return [(device, config) for device, config in every if (number, device, config.name) not in job.skip]


def not_run(variant: int, device: str, config: Config) -> CellReport:
    """The report on a variant's cell where the original does not end."""
    verdict = Verdict(VerdictKind.INCONCLUSIVE, NOT_RUN)
    return CellReport(variant=variant, device=device, config=config.name, verdict=verdict, seconds=0.0)


def eager_report(variant: int, verdict: Verdict, seconds: float) -> CellReport:
    """The report on a variant in eager."""
    return CellReport(variant=variant, device="", config="", verdict=verdict, seconds=seconds)


class CellJudge:
    """Judges with as much of a reference as needed: none, a few noisy runs, many before a claim.

    ``start`` is the original. ``signals`` and ``traced`` say what is collected while cells are compiled. Variants in
    ``no_reference`` get no reference. ``results`` and ``graphs_first`` are as in ``RunJob``. ``explained`` are digests
    of the values of calls whose differences a reference has explained: compiled code of a variant often gives the
    original's numbers.
    """

    def __init__(
        self,
        job: ProgramJob[Any],
        clock: StageTimer,
        start: LoadedVariant,
        *,
        signals: bool = False,
        traced: bool = False,
        results: Sequence[ResultPlaces] = (),
        graphs_first: bool = False,
    ) -> None:
        self.job = job
        self.clock = clock
        self.start = start
        self.signals = signals
        self.traced = traced
        self.results = results
        self.graphs_first = graphs_first
        self.no_reference: Sequence[int] = job.no_reference
        self.explained: set[str] = set()

    def rewrite(self, subject: LoadedVariant, calls: int) -> CellReport:
        """A variant in eager against the original in eager, on the first ``calls`` calls."""
        began = time.perf_counter()
        compare = partial(_compare_eager, self.start.eager.first(calls), subject.eager, subject)
        verdict = self._verdict(compare, [self.start, subject])
        return eager_report(subject.number, verdict, time.perf_counter() - began)

    def cell(self, subject: LoadedVariant, device: str, config: Config) -> CellReport:
        """A compiled cell against eager on the same device and with as many threads."""
        with several_threads(config.threads):
            return self._cell(subject, device, config)

    def _cell(self, subject: LoadedVariant, device: str, config: Config) -> CellReport:
        began = time.perf_counter()
        seconds = self.job.limits.compile_s
        place = subject.number, device, config.name
        doubt = ""

        def report(verdict: Verdict) -> CellReport:
            variant, device, config = place
            spent = time.perf_counter() - began
            return CellReport(variant=variant, device=device, config=config, verdict=verdict, seconds=spent)

        if config.threads > 1:
            self.clock.enter("threads", 2 * EAGER_RUNS * self.job.limits.eager_s, *place)
            subject, refusal, doubt = observed_again(subject)
            if refusal:
                return report(Verdict(VerdictKind.UNSUPPORTED, refusal))
        eager, calls = subject.eager, subject.calls
        if device != "cpu":
            self.clock.enter("device", 4 * self.job.limits.eager_s + _CONTEXT_SECONDS, *place)
            elsewhere = subject.on_device(device)
            if elsewhere.refusal:
                return report(Verdict(VerdictKind.UNSUPPORTED, elsewhere.refusal))
            eager, calls, doubt = elsewhere.eager, elsewhere.calls, doubt or elsewhere.doubt
        lines = dict[str, str]()
        if self.graphs_first and device == "cpu" and has_borders(config):
            signals = FeatureCollector()
            with self._instruments(signals, lines):
                verdict = self._verdict_on_graphs(subject, config)
            if verdict is not None:
                if self.traced:
                    self.clock.announce(LinesTraced(files=lines))
                return dataclasses.replace(report(verdict), only_graphs=True, features=tuple(signals.features))
        signals = FeatureCollector()
        self.clock.enter("compile", seconds, *place)
        forget_compiled_code()
        count_unbacked_graphs()
        with config.patched(), self._instruments(signals, lines):
            compiled = observe_on(subject.loaded.instance, calls, device, config.compile)
        counted = compilations()
        if self.traced:
            self.clock.announce(LinesTraced(files=lines))
        checks = _checks_under(config, self.job.checks)
        compare = partial(_compare_compiled, eager, compiled, checks)
        explained: tuple[str, ...] = ()
        if not config.draws_as_eager and has_drawn(subject.eager):
            verdict = self._without_values(subject, eager, compiled)
        elif doubt:
            verdict = compare(Reference([], unknown=doubt))
        else:
            verdict, explained = self._verdict_on_cell(compare, subject, eager, compiled)
        if verdict.kind is VerdictKind.AGREE and "speed" in self.job.checks and subject.number and device == "cpu":
            self.clock.enter("speed", 2 * seconds, *place)
            verdict = self._speed(subject, config) or verdict
        apart = () if verdict.kind is VerdictKind.AGREE else self._apart(subject, eager, compiled, checks)
        return dataclasses.replace(
            report(verdict), compiled=counted, features=tuple(signals.features), apart=apart, explained=explained
        )

    @contextlib.contextmanager
    def _instruments(self, signals: FeatureCollector, lines: dict[str, str]) -> Generator[None]:
        """What is collected of a compilation."""
        with (
            signals.collecting() if self.signals else contextlib.nullcontext(),
            traced_lines(lines) if self.traced else contextlib.nullcontext(),
        ):
            yield

    @contextlib.contextmanager
    def at_borders(
        self, subject: LoadedVariant, config: Config, *, code: bool = True
    ) -> Generator[tuple[GraphBorders, Callable[[], Verdict]]]:
        """Borders, and what runs and judges the subject as these say. It is compiled once, on the CPU.

        With ``code=False`` only graphs are made. Values alone are judged: a graph promises no strides.
        """
        checks = tuple(name for name in self.job.checks if name in _OF_VALUES)
        forget_compiled_code()
        borders = GraphBorders(code=code)

        def verdict() -> Verdict:
            compiled = observe_on(subject.loaded.instance, subject.calls, "cpu", config.compile)
            if any(call.raised is not None for call in compiled.calls):
                return Verdict(VerdictKind.INCONCLUSIVE, "a graph raises an exception")
            compare = partial(_compare_compiled, subject.eager, compiled, checks)
            return self._verdict(compare, [subject])

        with config.patched(), borders.compiling():
            self.clock.enter("compile", self.job.limits.compile_s, subject.number, "cpu", config.name)
            yield borders, verdict

    def _verdict_on_graphs(self, subject: LoadedVariant, config: Config) -> Verdict | None:
        """The verdict on the graphs that would be lowered; None where only code can give one.

        What no number of noisy runs explains nor makes a difference for sure stays so in code.
        """
        if any(call.raised is not None for call in subject.eager.calls) or not set(_OF_VALUES) & set(self.job.checks):
            return None
        if subject.number in self.no_reference or (not config.draws_as_eager and has_drawn(subject.eager)):
            return None
        with self.at_borders(subject, config, code=False) as (_, judged):
            verdict = judged()
        if verdict.kind is VerdictKind.AGREE:
            return Verdict(VerdictKind.AGREE, "the graphs agree with eager, and were not lowered")
        is_open = verdict.kind is VerdictKind.INCONCLUSIVE and verdict.evidence is not None and not self.results
        return verdict if is_open else None

    def _verdict_on_cell(
        self, compare: Callable[..., Verdict], subject: LoadedVariant, eager: Observation, compiled: Observation
    ) -> tuple[Verdict, tuple[str, ...]]:
        """The verdict, and the digests of the calls whose differences it explains."""
        with self.clock.within("judge"):
            verdict = compare(None)
            if verdict.kind is not VerdictKind.INCONCLUSIVE:
                return verdict, ()
            values = digests(eager, compiled)
        if self.explained.issuperset(values):
            return Verdict(VerdictKind.AGREE, "eager and compiled give the numbers of another cell that agrees"), values
        shared = self._reference_of_start(subject)
        if shared is not None:
            with self.clock.within("judge"):
                verdict = compare(shared)
        if verdict.kind is not VerdictKind.AGREE:
            verdict = self._verdict(compare, [subject])
        if verdict.kind is not VerdictKind.AGREE:
            return verdict, ()
        self.explained.update(values)
        return verdict, values

    def measure_start(self) -> None:
        """Measure the original in this process, so that the cells of its variants inherit the reference."""
        self._reference(self.start, THRESHOLDS.samples[-2])

    def _reference_of_start(self, subject: LoadedVariant) -> Reference | None:
        """The original's reference where there is one already, and a variant gives the same numbers in eager.

        It can explain a difference of the variant, but claim none.
        """
        start = self.start
        if not subject.number or not start.has_reference(1) or len(start.calls) != len(subject.calls):
            return None
        same = judge_self(start.eager, subject.eager).kind is VerdictKind.AGREE
        return start.reference(1, self.job.seed) if same else None

    def _apart(
        self, subject: LoadedVariant, eager: Observation, compiled: Observation, checks: Sequence[str]
    ) -> tuple[tuple[int, Verdict], ...]:
        """The verdicts on single results of an original that differ, or may; none where a call has raised."""
        if subject.number or any(call.raised is not None for side in (eager, compiled) for call in side.calls):
            return ()
        verdicts: list[tuple[int, Verdict]] = []
        for item, own in enumerate(self.results):
            alone = (result_alone(side, item, own) for side in (eager, compiled))
            verdict = self._verdict(partial(_compare_compiled, *alone, checks), [subject])
            if verdict.kind is not VerdictKind.AGREE:
                verdicts.append((item, verdict))
        return tuple(verdicts)

    def _without_values(self, subject: LoadedVariant, eager: Observation, compiled: Observation) -> Verdict:
        """Judge all but values, which depend on random numbers; inconclusive where more than values depends on them."""
        for seed in range(_OTHER_DRAWS):
            other = observe(subject.loaded.instance, subject.calls, seed=seed)
            if judge_metadata(subject.eager, other).kind is not VerdictKind.AGREE:
                return Verdict(VerdictKind.INCONCLUSIVE, "the random numbers that it draws decide more than values")
        return judge_metadata(eager, compiled)

    def _speed(self, subject: LoadedVariant, config: Config) -> Verdict | None:
        """The compiled variant timed against the compiled original, both on their first call."""
        with config.patched(), contextlib.redirect_stdout(None):
            return judge_speed(self.start.repeated_call(config.compile), subject.repeated_call(config.compile))

    def _verdict(
        self,
        compare: Callable[..., Verdict],
        subjects: Sequence[LoadedVariant],
        noisy_runs: Sequence[int] = THRESHOLDS.samples,
    ) -> Verdict:
        with self.clock.within("judge"):
            verdict = compare(*(None for _ in subjects))
        for samples in noisy_runs:
            if verdict.kind in (VerdictKind.AGREE, VerdictKind.UNSUPPORTED):
                break
            references = [self._reference(subject, samples) for subject in subjects]
            with self.clock.within("judge"):
                verdict = compare(*references)
        return verdict

    def _reference(self, subject: LoadedVariant, samples: int) -> Reference | None:
        if subject.number in self.no_reference:
            return None
        if not subject.has_reference(samples):
            seconds = 20 * self.job.limits.eager_s + _EAGER_CALLS_OF_RUN * samples * subject.eager.seconds
            self.clock.enter("reference", seconds, subject.number)
        return subject.reference(samples, self.job.seed)


def _checks_under(config: Config, checks: Sequence[str]) -> tuple[str, ...]:
    """Those that a configuration has to pass: an exported graph promises no strides, and arrays share no memory."""
    left_out = {"strides"} if config.backend in EXPORTING else set[str]()
    left_out |= {"aliasing"} if config.backend in FOREIGN else set[str]()
    return tuple(name for name in checks if name not in left_out)


def _compare_compiled(
    eager: Observation, compiled: Observation, checks: Sequence[str], reference: Reference | None
) -> Verdict:
    return judge_compiled(eager, compiled, reference, checks)


def _compare_eager(
    p: Observation, q: Observation, subject: LoadedVariant, reference_p: Reference | None, reference_q: Reference | None
) -> Verdict:
    variant = subject.variant
    return judge_rewrite(p, q, reference_p, reference_q, str(variant.exactness), gradients=variant.gradients_equal)
