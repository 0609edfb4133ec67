"""Finding reducer: the smallest derivation, program, configuration and calls with the same finding."""

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
from eqfuzz.rewrite.graphs.graph_step import GraphStep
from eqfuzz.rewrite.rewrite_step import RewriteStep
from eqfuzz.run.configs.named import Config
from eqfuzz.run.messages.finding_jobs import CompareJob
from eqfuzz.run.processes.cpu_meter import joined
from eqfuzz.run.processes.pool import Pool
from eqfuzz.torch_internals.bisector import application
from eqfuzz.triage.confirm.finding_cases import config_of, job_about
from eqfuzz.triage.confirm.rerun import Rerun, trial
from eqfuzz.triage.findings.finding import Finding, ReductionResult, original_outcome
from eqfuzz.triage.findings.fingerprint import changed_by, check_of
from eqfuzz.triage.findings.program_features import statements
from eqfuzz.triage.findings.stage import LADDER, STAGES
from eqfuzz.triage.reduce.ddmin import ddmin
from eqfuzz.triage.reduce.passes.statements import return_nothing
from eqfuzz.triage.reduce.reducer import ReductionStep, reduce_program

GUARDS_TRIED = 12
"""How many changes of the calls a smaller program is tried on; which are drawn depends on the program."""

_ROUNDING = 1e-3
"""The relative difference of two compiled values that different fusion may explain."""

_WITHOUT_CODE = {STAGES[backend]: backend for backend in LADDER}
"""Stages whose findings reproduce without Inductor, in a fraction of the time."""


@dataclasses.dataclass(frozen=True)
class ReductionTry:
    """A smaller candidate was run: ``holds`` where it has the same finding. ``size`` counts the rewrites, statements,
    threads, options or rewrites of graphs that ``phase`` reduces."""

    phase: str
    size: int
    holds: bool


class NotReduced(Exception):
    """The finding no longer reproduces; ``str()`` is one line."""


class FindingReducer:
    """Reduces ``finding`` within ``seconds`` of wall time; ``jobs`` programs run at a time, each in a child.

    A smaller candidate must have the same kind of verdict and, for an exception, the same text and frames; the same
    change of the calls must cause it; and the same component must be at fault: with the faulty part of the compiler
    switched off, or on the backend before the faulty stage, the verdict must be another one. ``answers`` stores the
    outcome of each run.
    """

    def __init__(
        self,
        finding: Finding,
        pool: Pool,
        *,
        seconds: float,
        jobs: int = 1,
        report: Callable[[ReductionTry], None] = lambda _: None,
        answers: dict[str, bool] | None = None,
    ) -> None:
        self._finding = finding
        self._pool = pool
        self._report = report
        self._jobs = jobs
        self._deadline = time.monotonic() + seconds
        self._answers = answers if answers is not None else {}
        self._tries = 0

    def smallest(self) -> Finding:
        """The smallest finding. Raises RunnerFailed, and NotReduced where the finding itself no longer reproduces.

        Its rewrites are applied again one by one, which may give another program than all at once.
        """
        own = config_of(self._finding)
        less, error = cheapest(self._finding, own), ""
        for config in (own,) if less == own else (less, own):
            for job in _plans(self._finding, config):
                rerun = self._trial(job, ())
                error = error or rerun.error
                if self._holds(rerun, job, ()):
                    smaller = self._reduced(job, own)
                    if smaller is not None:
                        return smaller
                    self._answers.clear()  # they were about another configuration or other calls
        raise NotReduced(f"it could not be judged again: {error}" if error else "it no longer reproduces")

    def shows_it(self, program: Program) -> bool:
        """Whether ``program``, called as the finding's, has the same finding."""
        plans = _plans(self._finding, config_of(self._finding))
        cases = (dataclasses.replace(job, program=program, transformed="") for job in plans)
        return any(self._holds(self._trial(job, ()), job, ()) for job in cases)

    def _reduced(self, job: CompareJob, own: Config) -> Finding | None:
        """The reduced finding of ``job``; None where it has no finding under the ``own`` configuration."""
        steps = self._finding.derivation
        job = self._fewest_graph_steps(job, steps)
        own = own.model_copy(update={"graph": job.configs[0].graph})
        if steps:
            steps = self._fewest_steps(job, steps)
        program = self._smallest_program(job, steps)
        candidates = [(dataclasses.replace(job, program=program), steps)]
        if steps and (plain := self._without_rewrites(job, program)) is not None:
            candidates.insert(0, (dataclasses.replace(plain, program=self._smallest_program(plain, ())), ()))
        for smaller, taken in candidates:
            own_job = dataclasses.replace(smaller, configs=(own,))
            if self._holds(self._trial(own_job, taken), own_job, taken):
                return self._as_finding(self._fewest_options(own_job, taken), taken)
        return None

    def _fewest_steps(self, job: CompareJob, steps: tuple[RewriteStep, ...]) -> tuple[RewriteStep, ...]:
        def holds(chosen: tuple[RewriteStep, ...]) -> bool:
            return self._reported("rewrites", len(chosen), self._holds(self._trial(job, chosen), job, chosen))

        left = ddmin(steps, holds)
        if not self._holds(self._trial(job, left), job, left):
            raise NotReduced("it no longer reproduces when its rewrites are applied one by one")
        return left

    def _fewest_graph_steps(self, job: CompareJob, steps: tuple[RewriteStep, ...]) -> CompareJob:
        """The job with the fewest rewrites of graphs: those left do not depend on each other's places."""

        def with_(chosen: tuple[GraphStep, ...]) -> CompareJob:
            return dataclasses.replace(job, configs=(job.configs[0].model_copy(update={"graph": chosen}),))

        def holds(chosen: tuple[GraphStep, ...]) -> bool:
            tried = with_(chosen)
            return self._reported("graph rewrites", len(chosen), self._holds(self._trial(tried, steps), tried, steps))

        graph = job.configs[0].graph
        if not graph:
            return job
        return with_(()) if holds(()) else with_(ddmin(graph, holds))

    def _smallest_program(self, job: CompareJob, steps: tuple[RewriteStep, ...]) -> Program:
        with ThreadPoolExecutor(self._jobs, initializer=joined()) as threads:

            def holds(program: Program) -> bool:
                tried = dataclasses.replace(job, program=program)
                return self._holds(self._trial(tried, steps), tried, steps)

            def first(programs: Sequence[Program]) -> Program | None:
                held = list(threads.map(holds, programs))
                return next((program for program, good in zip(programs, held, strict=True) if good), None)

            def report(progress: ReductionStep) -> None:
                self._reported("statements of the file", progress.after.statements, progress.after != progress.before)

            return reduce_program(
                job.program,
                first,
                width=self._jobs,
                stop=self._is_late,
                report=report,
                answers=self._answers,
                context="rewritten " if steps else "",
            )

    def _without_rewrites(self, job: CompareJob, program: Program) -> CompareJob | None:
        """The job without rewrites; None where the reduced program has no finding then, as it is or returning None."""
        for smaller in (program, *return_nothing(program)):
            plain = dataclasses.replace(job, program=smaller, transformed="")
            if self._reported("rewrites", 0, self._holds(self._trial(plain, ()), plain, ())):
                return plain
        return None

    def _fewest_options(self, job: CompareJob, steps: tuple[RewriteStep, ...]) -> CompareJob:
        """The job with the fewest options and, if possible, one thread."""
        if job.configs[0].threads > 1:
            single = dataclasses.replace(job, configs=(job.configs[0].with_one_thread(),))
            job = (
                single if self._reported("threads", 1, self._holds(self._trial(single, steps), single, steps)) else job
            )
        options = _options(job.configs[0])

        def with_(chosen: Collection[tuple[str, str, Any]]) -> CompareJob:
            return dataclasses.replace(job, configs=(_with_options(job.configs[0], chosen),))

        def holds(chosen: tuple[tuple[str, str, Any], ...]) -> bool:
            tried = with_(chosen)
            return self._reported("options", len(chosen), self._holds(self._trial(tried, steps), tried, steps))

        if not options:
            return job
        return with_(()) if holds(()) else with_(ddmin(options, holds))

    def _as_finding(self, job: CompareJob, steps: tuple[RewriteStep, ...]) -> Finding | None:
        rerun = self._trial(job, steps)
        verdict = self._verdict(rerun, job)
        if verdict is None:
            return None
        config, old = job.configs[0], self._finding
        transformed = job.program.with_source(rerun.rederived.source) if rerun.rederived else job.program
        cells = dict(old.cells)
        if steps:
            plain = self._trial(dataclasses.replace(job, transformed=""), ()).shown.get(config.name)
            cells |= {"C(P)": original_outcome(verdict, plain), "C(P')": str(verdict.kind)}
        else:
            cells = {"P": verdict.eager_outcome, "C(P)": str(verdict.kind)}
        called = {"input_sets": job.input_sets, "steps": job.steps, "checks": job.checks}
        new = dataclasses.replace(
            old,
            original=job.program,
            transformed=transformed,
            derivation=rerun.rederived.derivation if rerun.rederived else (),
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

    def _trial(self, job: CompareJob, steps: tuple[RewriteStep, ...]) -> Rerun:
        self._tries += 1
        return trial(self._pool, dataclasses.replace(job, steps_taken=steps))

    def _holds(self, rerun: Rerun, job: CompareJob, steps: tuple[RewriteStep, ...]) -> bool:
        verdict = self._verdict(rerun, job)
        if verdict is None:
            return False
        without = _without_faulty_component(self._finding, job.configs[0])
        if without is None:
            return True
        other = dataclasses.replace(job, configs=(without,))
        again = self._trial(other, steps).shown.get(without.name)
        return again is not None and _is_another(verdict, again)

    def _verdict(self, rerun: Rerun, job: CompareJob) -> Verdict | None:
        """The verdict where it is the finding's; None where it is another one, or missing."""
        verdict, wanted = rerun.shown.get(job.configs[0].name), self._finding.verdict
        if verdict is None or (verdict.kind, verdict.oracle) != (wanted.kind, wanted.oracle):
            return None
        if changed_by(verdict) != changed_by(wanted):
            return None
        if verdict.raises and verdict.exception != wanted.exception:
            return None
        return verdict

    def _is_late(self) -> bool:
        return time.monotonic() > self._deadline

    def _reported(self, phase: str, size: int, holds: bool) -> bool:
        self._report(ReductionTry(phase, size, holds))
        return holds


def cheapest(finding: Finding, own: Config) -> Config:
    """The finding's configuration with the cheapest backend that has it."""
    backend = finding.ablation.cheapest if finding.ablation is not None else own.backend
    return own if backend == own.backend else own.on(backend)


def _without_faulty_component(finding: Finding, config: Config) -> Config | None:
    """The configuration in which the finding must not reproduce; None where no component is known to be at fault."""
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
    """Whether two verdicts on one program are different; rounding makes no difference."""
    if verdict.symptom != again.symptom:
        return True
    one, other = (judged.evidence.compiled if judged.evidence is not None else None for judged in (verdict, again))
    if isinstance(one, float) and isinstance(other, float) and math.isfinite(one) and math.isfinite(other):
        return not math.isclose(one, other, rel_tol=_ROUNDING, abs_tol=_ROUNDING)
    return one != other


def _plans(finding: Finding, config: Config) -> Iterator[CompareJob]:
    """Jobs that may have the finding, those with the fewest calls first; the run's own is the last."""
    own = dataclasses.replace(job_about(CompareJob, finding), configs=(config,))
    quiet = tuple(name for name in own.checks if name not in CALLS)
    if changed_by(finding.verdict):
        yield dataclasses.replace(own, checks=(*quiet, "guards"), steps=GUARDS_TRIED, input_sets=1, calls=0)
    else:
        check = check_of(finding.verdict)
        if check:
            yield dataclasses.replace(own, checks=(*quiet, check), steps=0, input_sets=1, calls=0)
        for sets in dict.fromkeys((1, finding.call + 1)):
            yield dataclasses.replace(own, checks=quiet, steps=0, input_sets=sets, calls=0)
    yield own


def _options(config: Config) -> tuple[tuple[str, str, Any], ...]:
    """The options that differ from the default, as (field, key, value); key is empty for a plain field."""
    values = config.model_dump(exclude_defaults=True, exclude={"name", "backend", "threads", "graph"})
    return tuple(
        (field, key, item)
        for field, value in values.items()
        for key, item in (value.items() if isinstance(value, dict) else [("", value)])
    )


def _with_options(config: Config, options: Collection[tuple[str, str, Any]]) -> Config:
    fields: dict[str, Any] = {}
    for field, key, value in options:
        fields[field] = {**fields.get(field, {}), key: value} if key else value
    if len(options) == len(_options(config)):
        return config
    name = f"{config.backend}-graphs" if config.graph else config.backend
    name = name if config.threads == 1 else f"{name}@{config.threads}"
    return Config(name=name, backend=config.backend, threads=config.threads, graph=config.graph, **fields)
