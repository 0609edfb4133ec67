"""Judging what a case ran, in this process: a variant beside its original, a compiled cell beside eager."""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Protocol

from eqfuzz.oracle.compare.eager_judge import judge_rewrite
from eqfuzz.oracle.compare.oracles import judge_compiled, judge_metadata
from eqfuzz.oracle.compare.speed import judge_speed
from eqfuzz.oracle.compare.verdict import Verdict, VerdictKind
from eqfuzz.oracle.observe.observation import Observation
from eqfuzz.oracle.observe.observer import has_drawn, observe
from eqfuzz.oracle.reference.reference import Reference
from eqfuzz.oracle.thresholds import THRESHOLDS
from eqfuzz.run.configs.named import Config
from eqfuzz.run.coverage.features import FeatureCollector
from eqfuzz.run.coverage.line_coverage import traced_lines
from eqfuzz.run.devices import observe_on
from eqfuzz.run.jobs.case import Case
from eqfuzz.run.jobs.loaded_program import LoadedVariant
from eqfuzz.run.jobs.several_threads import EAGER_RUNS, observed_again, several_threads
from eqfuzz.run.jobs.stage_timer import StageTimer
from eqfuzz.torch_internals.dynamo import compilations, forget_compiled_code

_OTHER_DRAWS = 4
"""Eager runs with other random numbers, before a compiled one with other numbers is judged."""

_CONTEXT_SECONDS = 30
"""For the first use of a device in a process."""


@dataclasses.dataclass(frozen=True)
class JudgedCell:
    """A verdict, the wall seconds that it took to come by, and Dynamo's counts where something was compiled.

    ``erased``: the compiler generated code that it had generated for an earlier cell of the case. ``features`` are
    there when the case asks for signals, and none in an erased cell.
    """

    verdict: Verdict
    seconds: float
    compiled: dict[str, int] | None = None
    erased: bool = False
    features: list[int] = dataclasses.field(default_factory=list[int])

    def to_json(self) -> dict[str, Any]:
        return {**vars(self), "verdict": self.verdict.to_json()}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> JudgedCell:
        return cls(**{**data, "verdict": Verdict.from_json(data["verdict"])})


Place = tuple[str, Config]
"""Device and configuration of a cell."""

Tell = Callable[[int, str, str, JudgedCell], None]
"""Hand on what became of a cell: variant, device, configuration."""


class CellRunner(Protocol):
    """Takes the cells of subjects, and tells of each of them, at the latest when it is finished."""

    def add(self, subject: LoadedVariant, cells: Sequence[Place]) -> None: ...

    def finish(self) -> None: ...


class SequentialCells:
    """Compiled cells judged in this process, one after the other, on torch's stock path."""

    def __init__(self, case: Case, judge: CellJudge, tell: Tell) -> None:
        self._case = case
        self._judge = judge
        self._tell = tell

    def add(self, subject: LoadedVariant, cells: Sequence[Place]) -> None:
        """Judge them."""
        for device, config in cells:
            self._tell(subject.number, device, config.name, self._judge.cell(subject, device, config))

    def finish(self) -> None:
        """Nothing is left to do."""


def open_cells(case: Case, number: int) -> list[Place]:
    """The compiled cells of the original (0) or a variant that are still to be judged."""
    configs = [config for config in case.configs if number == 0 or config.name not in case.original_only]
    every = [(device, config) for device in case.devices for config in configs]
    return [(device, config) for device, config in every if (number, device, config.name) not in case.skip]


class CellJudge:
    """Judges with as much of a reference as it takes: none, a few noisy runs, many before a claim.

    ``start`` is the original. Subjects in ``no_reference`` get none.
    """

    def __init__(self, case: Case, clock: StageTimer, start: LoadedVariant, no_reference: Sequence[int]) -> None:
        self.case = case
        self.clock = clock
        self.start = start
        self.no_reference = no_reference

    def rewrite(self, subject: LoadedVariant, calls: int) -> JudgedCell:
        """A variant in eager beside the original in eager, on the first ``calls`` calls."""
        began = time.perf_counter()
        compare = partial(_compare_eager, self.start.eager.first(calls), subject.eager, subject)
        return JudgedCell(self._verdict(compare, [self.start, subject]), time.perf_counter() - began)

    def cell(self, subject: LoadedVariant, device: str, config: Config) -> JudgedCell:
        """A compiled cell beside eager on the same device and with as many threads."""
        with several_threads(config.threads):
            return self._cell(subject, device, config)

    def _cell(self, subject: LoadedVariant, device: str, config: Config) -> JudgedCell:
        began = time.perf_counter()
        seconds = self.case.compile_seconds
        where = {"variant": subject.number, "device": device, "config": config.name}
        doubt = ""
        if config.threads > 1:
            self.clock.enter("threads", 2 * EAGER_RUNS * self.case.eager_seconds, **where)
            subject, refusal, doubt = observed_again(subject)
            if refusal:
                return JudgedCell(Verdict(VerdictKind.UNSUPPORTED, refusal), time.perf_counter() - began)
        eager, calls = subject.eager, subject.calls
        if device != "cpu":
            self.clock.enter("device", 4 * self.case.eager_seconds + _CONTEXT_SECONDS, **where)
            abroad = subject.abroad(device)
            if abroad.refusal:
                return JudgedCell(Verdict(VerdictKind.UNSUPPORTED, abroad.refusal), time.perf_counter() - began)
            eager, calls, doubt = abroad.eager, abroad.calls, doubt or abroad.doubt
        self.clock.enter("compile", seconds, **where)
        forget_compiled_code()
        signals, lines = FeatureCollector(), dict[str, str]()
        with contextlib.ExitStack() as stack:
            stack.enter_context(config.patched())
            if self.case.signals:
                stack.enter_context(signals.collecting())
            if self.case.traced:
                stack.enter_context(traced_lines(lines))
            compiled = observe_on(subject.loaded.instance, calls, device, config.compile)
        counted = compilations()
        if self.case.traced:
            self.clock.announce({"event": "lines", "files": lines})
        compare = partial(_compare_compiled, eager, compiled, self.case.checks)
        if not config.draws_as_eager and has_drawn(subject.eager):
            verdict = self._without_values(subject, eager, compiled)
        else:
            verdict = compare(Reference([], unknown=doubt)) if doubt else self._verdict(compare, [subject])
        if verdict.kind is VerdictKind.AGREE and "speed" in self.case.checks and subject.number and device == "cpu":
            self.clock.enter("speed", 2 * seconds, **where)
            verdict = self._speed(subject, config) or verdict
        return JudgedCell(verdict, time.perf_counter() - began, counted, features=signals.features)

    def _without_values(self, subject: LoadedVariant, eager: Observation, compiled: Observation) -> Verdict:
        """All but the values, which the random numbers decide; a doubt where these decide more than values."""
        for seed in range(_OTHER_DRAWS):
            other = observe(subject.loaded.instance, subject.calls, seed=seed)
            if judge_metadata(subject.eager, other).kind is not VerdictKind.AGREE:
                return Verdict(VerdictKind.INCONCLUSIVE, "the random numbers that it draws decide more than values")
        return judge_metadata(eager, compiled)

    def _speed(self, subject: LoadedVariant, config: Config) -> Verdict | None:
        """The compiled variant timed against the compiled original, both on their first call."""

        def compiled(which: LoadedVariant) -> Callable[[], object]:
            function, call = config.compile(which.loaded.instance()), which.calls[0].copy()
            timed = partial(function, *call.args, **call.kwargs)
            for _ in range(2):
                timed()
            return timed

        with config.patched(), contextlib.redirect_stdout(None):
            return judge_speed(compiled(self.start), compiled(subject))

    def _verdict(self, compare: Callable[..., Verdict], subjects: Sequence[LoadedVariant]) -> Verdict:
        with self.clock.within("judge"):
            verdict = compare(*(None for _ in subjects))
        for samples in THRESHOLDS.samples:
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
            self.clock.enter("reference", 20 * self.case.eager_seconds, variant=subject.number)
        return subject.reference(samples, self.case.seed)


def _compare_compiled(
    eager: Observation, compiled: Observation, checks: Sequence[str], known: Reference | None
) -> Verdict:
    return judge_compiled(eager, compiled, known, checks)


def _compare_eager(
    p: Observation, q: Observation, subject: LoadedVariant, known_p: Reference | None, known_q: Reference | None
) -> Verdict:
    variant = subject.variant
    return judge_rewrite(p, q, known_p, known_q, str(variant.exactness), gradients=variant.gradients_equal)
