"""A finding made smaller while it stays the same finding: its derivation, its program, its configuration, its calls."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from eqfuzz.oracle.compare.checks import CALLS
from eqfuzz.oracle.compare.verdict import Verdict
from eqfuzz.program.program import Program
from eqfuzz.rewrite.derivation import RewriteStep
from eqfuzz.run.configs.named import Config
from eqfuzz.run.jobs.case import Case
from eqfuzz.run.processes.pool import Pool
from eqfuzz.torch_internals.bisector import application
from eqfuzz.triage.confirm.finding_cases import case_about, config_of
from eqfuzz.triage.confirm.rerun import Rerun, trial
from eqfuzz.triage.findings.finding import Finding, ReductionResult, seen_beside
from eqfuzz.triage.findings.fingerprint import changed_by
from eqfuzz.triage.findings.program_features import statements
from eqfuzz.triage.findings.stage import LADDER, STAGES
from eqfuzz.triage.reduce.ddmin import ddmin
from eqfuzz.triage.reduce.passes.statements import return_nothing
from eqfuzz.triage.reduce.reducer import ReductionStep, reduce_program

GUARDS_TRIED = 12
"""Guarded changes of the calls that a smaller program is tried on: which are drawn depends on the program."""

_ROUNDING = 1e-3
"""Relative difference of two compiled values that other fusion may explain."""

_WITHOUT_CODE = {STAGES[backend]: backend for backend in LADDER}
"""Stages whose findings show without Inductor: a program is judged in a fraction of the time."""


@dataclasses.dataclass(frozen=True)
class ReductionTry:
    """A smaller finding was tried: ``holds`` where it is the same. ``size`` counts what is
    left of what the phase is about."""

    phase: str
    size: int
    holds: bool


class NotReduced(Exception):
    """The finding does not show again; ``str()`` says it in one line."""


class FindingReducer:
    """Reduces ``finding`` within ``seconds`` of wall time, ``jobs`` programs at a time; every try is a child's.

    What is smaller counts only if it shows the same kind of verdict and, of an exception, the same text and frames; if
    the same change of call shows it; and if what is to blame is still to blame: with the guilty part of the compiler
    switched off, or on the backend before the guilty stage, it must not show, or not so: another defect in the program
    may show then. ``answers`` remembers what was tried.
    """

    def __init__(
        self,
        finding: Finding,
        pool: Pool,
        *,
        seconds: float,
        jobs: int = 1,
        tell: Callable[[ReductionTry], None] = lambda _: None,
        answers: dict[str, bool] | None = None,
    ) -> None:
        self._finding = finding
        self._pool = pool
        self._tell = tell
        self._jobs = jobs
        self._deadline = time.monotonic() + seconds
        self._answers = answers if answers is not None else {}
        self._tries = 0

    def smallest(self) -> Finding:
        """The smallest that was found. Raises NotReduced where not even the finding shows again, and RunnerFailed.

        The rewrites that made it are made again one by one, which may come out differently from all at once.
        """
        own = config_of(self._finding)
        less, error = cheapest(self._finding, own), ""
        for config in (own,) if less == own else (less, own):
            for case in _plans(self._finding, config):
                shown = self._trial(case, ())
                error = error or shown.error
                if self._holds(shown, case, ()):
                    smaller = self._reduced(case, own)
                    if smaller is not None:
                        return smaller
                    self._answers.clear()  # they were about another configuration or other calls
        raise NotReduced(f"it could not be judged again: {error}" if error else "it does not show again")

    def shows_it(self, program: Program) -> bool:
        """Whether ``program`` in place of the finding's is the same finding, called as that was."""
        plans = _plans(self._finding, config_of(self._finding))
        cases = (dataclasses.replace(case, program=program, transformed="") for case in plans)
        return any(self._holds(self._trial(case, ()), case, ()) for case in cases)

    def _reduced(self, case: Case, own: Config) -> Finding | None:
        """From where ``case`` shows it; None where what is left does not show it under its ``own`` configuration."""
        steps = self._finding.derivation
        if steps:
            steps = self._fewest_steps(case, steps)
        program = self._smallest_program(case, steps)
        found = [(dataclasses.replace(case, program=program), steps)]
        if steps and (plain := self._without_rewrites(case, program)) is not None:
            found.insert(0, (dataclasses.replace(plain, program=self._smallest_program(plain, ())), ()))
        for smaller, taken in found:
            own_case = dataclasses.replace(smaller, configs=(own,))
            if self._holds(self._trial(own_case, taken), own_case, taken):
                return self._made(self._fewest_options(own_case, taken), taken)
        return None

    def _fewest_steps(self, case: Case, steps: tuple[RewriteStep, ...]) -> tuple[RewriteStep, ...]:
        def holds(chosen: tuple[RewriteStep, ...]) -> bool:
            return self._told("rewrites", len(chosen), self._holds(self._trial(case, chosen), case, chosen))

        left = ddmin(steps, holds)
        if not self._holds(self._trial(case, left), case, left):
            raise NotReduced("its rewrites, made again one by one, do not show it")
        return left

    def _smallest_program(self, case: Case, steps: tuple[RewriteStep, ...]) -> Program:
        with ThreadPoolExecutor(self._jobs) as threads:

            def holds(program: Program) -> bool:
                tried = dataclasses.replace(case, program=program)
                return self._holds(self._trial(tried, steps), tried, steps)

            def first(programs: Sequence[Program]) -> Program | None:
                held = list(threads.map(holds, programs))
                return next((program for program, good in zip(programs, held, strict=True) if good), None)

            def tell(progress: ReductionStep) -> None:
                self._told("statements", progress.after.statements, progress.after != progress.before)

            return reduce_program(
                case.program,
                first,
                width=self._jobs,
                stop=self._is_late,
                tell=tell,
                answers=self._answers,
                context="rewritten " if steps else "",
            )

    def _without_rewrites(self, case: Case, program: Program) -> Case | None:
        """The case without rewrites where the reduced program shows it so, as it is or returning None; else None."""
        for smaller in (program, *return_nothing(program)):
            plain = dataclasses.replace(case, program=smaller, transformed="")
            if self._told("rewrites", 0, self._holds(self._trial(plain, ()), plain, ())):
                return plain
        return None

    def _fewest_options(self, case: Case, steps: tuple[RewriteStep, ...]) -> Case:
        """The case with what the configuration can do without left out, all threads but one before all."""
        if case.configs[0].threads > 1:
            single = dataclasses.replace(case, configs=(case.configs[0].with_one_thread(),))
            case = single if self._told("threads", 1, self._holds(self._trial(single, steps), single, steps)) else case
        options = _options(case.configs[0])

        def with_(chosen: Collection[tuple[str, str, Any]]) -> Case:
            return dataclasses.replace(case, configs=(_with_options(case.configs[0], chosen),))

        def holds(chosen: tuple[tuple[str, str, Any], ...]) -> bool:
            tried = with_(chosen)
            return self._told("options", len(chosen), self._holds(self._trial(tried, steps), tried, steps))

        if not options:
            return case
        return with_(()) if holds(()) else with_(ddmin(options, holds))

    def _made(self, case: Case, steps: tuple[RewriteStep, ...]) -> Finding | None:
        shown = self._trial(case, steps)
        verdict = self._verdict(shown, case)
        if verdict is None:
            return None
        config, old = case.configs[0], self._finding
        transformed = case.program.with_source(shown.rederived["source"]) if shown.rederived else case.program
        cells = dict(old.cells)
        if steps:
            plain = self._trial(dataclasses.replace(case, transformed=""), ()).shown.get(config.name)
            cells |= {"C(P)": seen_beside(verdict, plain), "C(P')": str(verdict.kind)}
        else:
            cells = {"P": "runs", "C(P)": str(verdict.kind)}
        called = {"input_sets": case.input_sets, "steps": case.steps, "checks": case.checks}
        new = dataclasses.replace(
            old,
            original=case.program,
            transformed=transformed,
            derivation=tuple(RewriteStep(**step) for step in shown.rederived["derivation"]) if shown.rederived else (),
            verdict=verdict,
            config=config.name,
            settings=config.model_dump(exclude_defaults=True),
            cells=cells,
            environment=old.environment.model_copy(update=called),
        )
        first = old.reduced
        reduced = ReductionResult(
            rewrites=(first.rewrites[0] if first else len(old.derivation), len(new.derivation)),
            statements=(first.statements[0] if first else statements(old.transformed), statements(transformed)),
            characters=(first.characters[0] if first else len(old.transformed.source), len(transformed.source)),
            tries=self._tries + (first.tries if first else 0),
        )
        return dataclasses.replace(new, reduced=reduced)

    def _trial(self, case: Case, steps: tuple[RewriteStep, ...]) -> Rerun:
        self._tries += 1
        return trial(self._pool, dataclasses.replace(case, steps_taken=steps))

    def _holds(self, shown: Rerun, case: Case, steps: tuple[RewriteStep, ...]) -> bool:
        verdict = self._verdict(shown, case)
        if verdict is None:
            return False
        without = _without_the_guilty(self._finding, case.configs[0])
        if without is None:
            return True
        other = dataclasses.replace(case, configs=(without,))
        again = self._trial(other, steps).shown.get(without.name)
        return again is not None and _is_another(verdict, again)

    def _verdict(self, shown: Rerun, case: Case) -> Verdict | None:
        """The verdict that is the finding's; None where it is another or there is none."""
        verdict, wanted = shown.shown.get(case.configs[0].name), self._finding.verdict
        if verdict is None or verdict.kind is not wanted.kind or changed_by(verdict) != changed_by(wanted):
            return None
        if verdict.raises and verdict.exception != wanted.exception:
            return None
        return verdict

    def _is_late(self) -> bool:
        return time.monotonic() > self._deadline

    def _told(self, phase: str, size: int, holds: bool) -> bool:
        self._tell(ReductionTry(phase, size, holds))
        return holds


def cheapest(finding: Finding, own: Config) -> Config:
    """The finding's configuration with no more of the compiler than shows it."""
    backend = finding.ablation.cheapest if finding.ablation is not None else own.backend
    return own if backend == own.backend else own.on(backend)


def _without_the_guilty(finding: Finding, config: Config) -> Config | None:
    """The configuration in which the finding must not show; None where nothing of that kind is known."""
    blame = finding.exact_blame
    if blame is not None:
        without = (blame.subsystem, application(blame.detail))
        return config.model_copy(update={"name": f"{config.name} without {without[1]}", "without": without})
    if not finding.stage:
        return None
    faulty = _WITHOUT_CODE.get(finding.stage)
    before = LADDER[: LADDER.index(faulty)] if faulty is not None else LADDER
    if not before:
        return None
    return config.on(before[-1])


def _is_another(verdict: Verdict, again: Verdict) -> bool:
    """Whether two verdicts on one program are about different things; rounding makes no difference."""
    if verdict.symptom != again.symptom:
        return True
    one, other = (shown.evidence.compiled if shown.evidence is not None else None for shown in (verdict, again))
    if isinstance(one, float) and isinstance(other, float) and math.isfinite(one) and math.isfinite(other):
        return not math.isclose(one, other, rel_tol=_ROUNDING, abs_tol=_ROUNDING)
    return one != other


def _plans(finding: Finding, config: Config) -> Iterator[Case]:
    """Ways to call the program that may show the finding, the simplest first; the run's own is the last."""
    own = dataclasses.replace(case_about(finding, "compare"), configs=(config,))
    quiet = tuple(name for name in own.checks if name not in CALLS)
    if changed_by(finding.verdict):
        yield dataclasses.replace(own, checks=(*quiet, "guards"), steps=GUARDS_TRIED, input_sets=1, described=0)
    else:
        for sets in dict.fromkeys((1, finding.call + 1)):
            yield dataclasses.replace(own, checks=quiet, steps=0, input_sets=sets, described=0)
    yield own


def _options(config: Config) -> tuple[tuple[str, str, Any], ...]:
    """What differs from the default configuration, as (field, key, value); key is empty for a plain field."""
    given = config.model_dump(exclude_defaults=True, exclude={"name", "backend", "threads"})
    return tuple(
        (field, key, item)
        for field, value in given.items()
        for key, item in (value.items() if isinstance(value, dict) else [("", value)])
    )


def _with_options(config: Config, options: Collection[tuple[str, str, Any]]) -> Config:
    fields: dict[str, Any] = {}
    for field, key, value in options:
        fields[field] = {**fields.get(field, {}), key: value} if key else value
    if len(options) == len(_options(config)):
        return config
    name = config.backend if config.threads == 1 else f"{config.backend}@{config.threads}"
    return Config(name=name, backend=config.backend, threads=config.threads, **fields)
