"""Compiled cells in processes of their own, which share runs of the C++ compiler.

Each cell runs as it would alone, up to the first kernel that it calls. There it waits until the others of its batch
have got as far; then one run of the compiler builds the kernels that are missing. Only one of these processes runs at a
time, so the result does not depend on the machine.
"""

from __future__ import annotations

import contextlib
import dataclasses
import gc
import hashlib
import random
import re
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial

from eqfuzz.oracle.compare.verdict import Verdict, VerdictKind
from eqfuzz.run.configs.named import Config
from eqfuzz.run.jobs.cell_judge import CellJudge, Place, not_run
from eqfuzz.run.jobs.loaded_program import LoadedVariant
from eqfuzz.run.jobs.stage_timer import COMPILER, StageTimer
from eqfuzz.run.kernels import translation_unit
from eqfuzz.run.kernels.cache import KernelCache
from eqfuzz.run.kernels.deferred import Built, Deferral, Kernel
from eqfuzz.run.limits import Limits
from eqfuzz.run.messages.cell_messages import (
    CellFinished,
    CellProcessExit,
    KernelsBuilt,
    KernelsReply,
    KernelsRequested,
)
from eqfuzz.run.messages.codec import decoder_of
from eqfuzz.run.messages.job import Emit, StageEntered
from eqfuzz.run.messages.seed_jobs import CellReport, LinesTraced, RunJob
from eqfuzz.run.processes.cell_process import GRACE, CellProcess
from eqfuzz.run.processes.exit_reasons import DEATHS, NO_VERDICT, death_in_words
from eqfuzz.torch_internals.inductor import watch_loaded_code
from eqfuzz.torch_internals.shortcuts import shortcuts

TOGETHER = 12
"""Cells that are alive at once: more save little, and each holds about 100 MB."""

FULL_SHARE = 0.05
"""The share of variants whose kernels are all built again, although there are some to reuse."""

NOT_STOCK = "not on the stock path"
"""The cause of a flaky cell whose finding occurs only where kernels are built together."""

_SLOWER_TRACED = 3
"""Compiling under coverage.py's tracer has so many times the time."""

_UNIT = 40
"""Maximal number of kernels in one run of the compiler."""

_WITHOUT_CLAIM = {"threads": VerdictKind.UNSUPPORTED, "speed": VerdictKind.INCONCLUSIVE}
"""Verdicts on cells whose process died in a stage that says nothing about compiled code."""

_Cell = CellProcess[KernelsReply]


class CellBroken(RuntimeError):
    """The process of a cell ended without a verdict: an error of eqfuzz itself. The traceback is in the notes."""


@dataclasses.dataclass
class _Task:
    """A cell to judge: on torch's stock path if there is a finding on the shared one, ``fast``."""

    subject: LoadedVariant
    device: str
    config: Config
    fast: CellReport | None = None

    @property
    def stock(self) -> bool:
        return self.fast is not None or not self.config.shares_kernels

    @property
    def hangs(self) -> bool:
        """Whether it has hung on the shared path."""
        return self.fast is not None and self.fast.verdict.kind is VerdictKind.HANG

    @property
    def place(self) -> tuple[str, str]:
        return self.device, self.config.name


class BatchedCells:
    """Judges the cells of the variants that are added, at most ``together`` at a time.

    A finding on the shared path, the death of a process included, is judged again on torch's stock path in a new
    process, and only that counts; once for each symptom under a configuration, which is often that of all variants.
    ``counts`` has the kernels by what was done with them.
    """

    def __init__(self, job: RunJob, judge: CellJudge, emit: Emit, together: int = TOGETHER) -> None:
        self._job = job
        self._judge = judge
        self._together = together
        self._clock: StageTimer = judge.clock
        self._emit = emit
        self._tasks: deque[_Task] = deque()
        self._again: deque[_Task] = deque()
        self._confirmed: dict[tuple[tuple[str, str], tuple[str, str]], int] = {}
        """The first variant that shows a symptom of a configuration on the stock path too: findings are made of it."""
        self._waiting: list[tuple[_Task, _Cell, Sequence[Kernel]]] = []
        self._built = KernelCache()
        self._codes: set[tuple[tuple[str, str], tuple[str, ...]]] = set()
        self._rng = random.Random(f"{job.seed} {job.program.digest} full")
        self._own: list[_Task] = []
        """Cells of this process, which die with it: they come after the others."""
        self._dropped: set[tuple[str, str]] = set(job.without_end)
        """Where the original does not end: variants are not run."""
        self.counts = {"built": 0, "reused": 0, "alone": 0, "compiler_runs": 0}

    def add(self, subject: LoadedVariant, cells: Sequence[Place]) -> None:
        """Add its cells, which are judged when there are enough."""
        for device, config in cells:
            (self._tasks if config.needs_process else self._own).append(_Task(subject, device, config))
        if len(self._tasks) + len(self._own) >= self._together:
            self.finish()

    def finish(self) -> None:
        """Judge and report all cells that are left."""
        # A garbage collection in a child would touch, and so copy, every page that holds an object.
        gc.freeze()
        try:
            while self._again or self._tasks or self._waiting:
                if self._again or (self._tasks and len(self._waiting) < self._together):
                    task = (self._again or self._tasks).popleft()
                    if task.fast is not None and self._is_repeated(task, task.fast):
                        self._emit(task.fast)
                    elif task.fast is None and self._is_dropped(task):
                        self._emit(not_run(task.subject.number, task.device, task.config))
                    else:
                        self._start(task)
                else:
                    self._continue()
        finally:
            for _, process, _ in self._waiting:
                process.close()
            self._waiting.clear()
        own, self._own = self._own, []
        for task in own:
            place = task.subject, task.device, task.config
            self._emit(not_run(task.subject.number, *place[1:]) if self._is_dropped(task) else self._judge.cell(*place))

    def _is_dropped(self, task: _Task) -> bool:
        return task.subject.number > 0 and task.place in self._dropped

    def _start(self, task: _Task) -> None:
        # What has ended on the shared path has all the time on the stock path, whatever else hangs.
        limits = self._job.limits if task.fast is not None else self._judge.job.limits
        if task.hangs:
            limits = limits.after_hang()
        if self._judge.traced and task.fast is None:
            limits = dataclasses.replace(limits, compile_s=_SLOWER_TRACED * limits.compile_s)
        self._clock.enter("fork", limits.compile_s, task.subject.number, *task.place)
        full = task.subject.number > 0 and self._rng.random() < FULL_SHARE
        work = partial(_judge_cell, self._judge, task, full, limits)
        events = KernelsRequested, CellFinished, LinesTraced
        self._follow(task, CellProcess(work, events, decoder_of(KernelsReply)))

    def _continue(self) -> None:
        """Build the kernels that the waiting cells lack; let each cell run to its end or to its next kernels."""
        waiting, self._waiting = deque(self._waiting), []
        wanted = {kernel.key: kernel for _, _, kernels in waiting for kernel in kernels}
        kernels = [kernel for kernel in wanted.values() if kernel not in self._built]
        for first in range(0, len(kernels), _UNIT):
            self._build(kernels[first : first + _UNIT])
        while waiting:
            task, process, lacked = waiting.popleft()
            if self._is_dropped(task):
                process.close()
                self._emit(not_run(task.subject.number, task.device, task.config))
                continue
            if any(suspect.hangs for suspect in self._again):
                self._waiting.append((task, process, lacked))
                continue
            if self._judge.job.limits.shortened:
                process.shorten(self._judge.job.limits.compile_s)
            self._clock.enter("fork", process.seconds + GRACE, task.subject.number, *task.place)
            try:
                process.reply(self._reply(lacked))
                self._follow(task, process)
            except BaseException:
                for _, left, _ in waiting:
                    left.close()
                raise

    def _reply(self, kernels: Sequence[Kernel]) -> KernelsReply:
        built = tuple(self._built[kernel] for kernel in kernels)
        return KernelsReply(built=built, explained=tuple(sorted(self._judge.explained)))

    def _follow(self, task: _Task, process: _Cell) -> None:
        """Follow a running cell until it waits for kernels or has ended."""
        report: CellReport | None = None
        codes: tuple[str, ...] = ()
        account: dict[str, float] = {}
        while True:
            event = process.listen(self._clock.announce)
            match event:
                case KernelsRequested(kernels=kernels):
                    if any(kernel not in self._built for kernel in kernels):
                        self._waiting.append((task, process, kernels))
                        return
                    self.counts["reused"] += len(kernels)
                    process.reply(self._reply(kernels))
                case CellFinished():
                    report, codes, account = event.report, event.codes, event.account
                    self.counts["alone"] += event.alone
                case LinesTraced():
                    self._emit(event)
                case CellProcessExit():
                    process.close()
                    self._clock.forked(account)
                    self._end(task, report, codes, event)
                    return
                case _:
                    raise AssertionError(f"a cell does not send {event.message_name}")

    def _end(self, task: _Task, report: CellReport | None, codes: tuple[str, ...], ended: CellProcessExit) -> None:
        if report is None:
            report = self._died(task, ended)
            if report is None:
                return
        elif task.fast is not None:
            report = dataclasses.replace(report, erased=task.fast.erased, features=task.fast.features)
        elif codes:
            place = task.place, codes
            erased = place in self._codes
            report = dataclasses.replace(report, erased=erased, features=() if erased else report.features)
            self._codes.add(place)
        self._judge.explained.update(report.explained)
        if not task.stock and report.verdict.is_finding and not self._job.results:
            self._again.append(dataclasses.replace(task, fast=report))
            return
        if task.fast is not None and not report.verdict.is_finding:
            words = (
                f"{task.fast.verdict.kind} where kernels are built together, {report.verdict.kind} on the stock path"
            )
            flaky = Verdict(VerdictKind.FLAKY, f"{words}: {task.fast.verdict.message}", cause=NOT_STOCK)
            report = dataclasses.replace(report, verdict=flaky)
        elif task.fast is not None:
            key = task.place, report.verdict.symptom
            self._confirmed[key] = min(task.subject.number, self._confirmed.get(key, task.subject.number))
        if report.verdict.kind is VerdictKind.HANG:
            self._judge.job = dataclasses.replace(self._judge.job, limits=self._judge.job.limits.after_hang())
        if task.subject.number == 0 and ended.reason == "hang":
            self._dropped.add(task.place)
        self._emit(report)

    def _is_repeated(self, task: _Task, report: CellReport) -> bool:
        """Whether an earlier variant has shown the symptom of ``report`` on the stock path."""
        first = self._confirmed.get((task.place, report.verdict.symptom))
        return first is not None and first < task.subject.number

    def _died(self, task: _Task, ended: CellProcessExit) -> CellReport | None:
        """The report on a cell whose process died; None where the cell is tried again."""
        if ended.reason not in DEATHS:
            broken = CellBroken(f"a cell ended without a verdict: {ended.detail or 'it reported nothing'}")
            broken.add_note(ended.traceback or "")
            raise broken
        if ended.stage == "reference" and task.subject.number not in self._judge.no_reference:
            self._judge.no_reference = [*self._judge.no_reference, task.subject.number]
            self._tasks.appendleft(task)
            return None
        kind = _WITHOUT_CLAIM.get(ended.stage, DEATHS[ended.reason])
        words = death_in_words(ended.stage, ended.reason, ended.detail)
        is_shortened = self._judge.job.limits.shortened and ended.stage == "compile" and task.fast is None
        if ended.reason == "hang" and is_shortened:
            kind, words = VerdictKind.INCONCLUSIVE, f"{words}: {NO_VERDICT}"
        return _without_verdict(task, kind, words, ended.seconds)

    def _build(self, kernels: Sequence[Kernel]) -> None:
        """One run of the compiler; where it fails, one for each half, down to the kernel that it rejects."""
        seconds = self._job.limits.compile_s + 5.0 * len(kernels)
        self._clock.enter("build", seconds + GRACE)
        build = partial(_build, kernels, seconds)
        with contextlib.closing(CellProcess(build, (KernelsBuilt,), decoder_of(KernelsReply))) as process:
            event = process.listen(self._emit)
            if isinstance(event, KernelsBuilt):
                process.listen(self._emit)
        self._clock.forked({}, rest=COMPILER)
        self.counts["compiler_runs"] += 1
        if isinstance(event, KernelsBuilt):
            self.counts["built"] += len(kernels)
            self._built.add(kernels, event.at)
        elif len(kernels) == 1:
            self._built.refuse(kernels[0])
        else:
            half = len(kernels) // 2
            self._build(kernels[:half])
            self._build(kernels[half:])


def _judge_cell(
    judge: CellJudge, task: _Task, full: bool, limits: Limits, emit: Emit, next_reply: Callable[[], KernelsReply]
) -> None:
    """Judge a cell in its own process."""
    judge.clock = StageTimer(emit)
    judge.job = dataclasses.replace(judge.job, limits=limits)
    if task.fast is not None:  # what counts is torch's stock path, with no instruments attached
        judge.signals = judge.traced = judge.graphs_first = False

    def request(kernels: Sequence[Kernel]) -> Sequence[Built | None]:
        emit(KernelsRequested(kernels=tuple(kernels)))
        reply = next_reply()
        judge.explained.update(reply.explained)
        return reply.built

    codes: list[str] = []
    watch_loaded_code(codes.append)
    deferral = None if task.stock else Deferral(request, salt=f"variant {task.subject.number}" if full else "")
    with contextlib.nullcontext() if task.stock else shortcuts():
        report = judge.cell(task.subject, task.device, task.config)
    emit(
        CellFinished(
            report=report,
            codes=tuple(map(_digest, codes)),
            account=judge.clock.account(),
            alone=deferral.alone if deferral is not None else 0,
        )
    )


def _without_verdict(task: _Task, kind: VerdictKind, words: str, seconds: float = 0.0) -> CellReport:
    """The report on a cell that reported nothing itself."""
    return CellReport(
        variant=task.subject.number,
        device=task.device,
        config=task.config.name,
        verdict=Verdict(kind, words),
        seconds=seconds,
    )


def _build(kernels: Sequence[Kernel], seconds: float, emit: Emit, _: Callable[[], KernelsReply]) -> None:
    emit(StageEntered(stage="build", seconds=seconds))
    translation_unit.prefer_mold()
    emit(KernelsBuilt(at=tuple(translation_unit.build(kernels))))


def _digest(code: str) -> str:
    """Equal for generated code that differs only in comments and names of kernels, which depend on their origin."""
    text = re.sub(r"(?m)^\s*#(?!include).*\n", "", code)
    names = {name: f"kernel_{number}" for number, name in enumerate(dict.fromkeys(re.findall(r"\bcpp_fused\w*", text)))}
    text = re.sub(r"\bcpp_fused\w*", lambda match: names[match[0]], text)
    return hashlib.sha256(text.encode()).hexdigest()[:24]
