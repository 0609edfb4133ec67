"""Compiled cells in processes of their own, which share runs of the C++ compiler.

Each cell does what it would do alone, up to the first kernel that it calls. There it stops and waits until the others
of its batch have come as far; then one run of the compiler builds what all of them lack. Only one of these processes
runs at a time, so what happens does not depend on the machine.
"""

from __future__ import annotations

import contextlib
import dataclasses
import gc
import hashlib
import random
import re
from collections import deque
from collections.abc import Sequence
from functools import partial
from typing import Any

from eqfuzz.oracle.compare.verdict import Verdict, VerdictKind
from eqfuzz.run.configs.named import Config
from eqfuzz.run.jobs.case import Case
from eqfuzz.run.jobs.cell_judge import CellJudge, JudgedCell, Place, Tell
from eqfuzz.run.jobs.loaded_program import LoadedVariant
from eqfuzz.run.jobs.stage_timer import COMPILER, StageTimer
from eqfuzz.run.kernels import translation_unit
from eqfuzz.run.kernels.cache import KernelCache
from eqfuzz.run.kernels.deferred import Built, Deferral, Kernel
from eqfuzz.run.processes.cell_process import GRACE, Answer, CellProcess, Emit
from eqfuzz.run.processes.exit_reasons import DEATHS, death_in_words
from eqfuzz.run.protocol import EXIT, Event
from eqfuzz.torch_internals.inductor import watch_loaded_code
from eqfuzz.torch_internals.shortcuts import shortcuts

TOGETHER = 12
"""Cells that are alive at once: more save little, and each holds about 100 MB."""

FULL_SHARE = 0.05
"""The share of variants whose kernels are all built again, although they are there."""

NOT_STOCK = "not on the stock path"
"""The cause of a flaky cell that shows something only where kernels are built together."""

_UNIT = 40
"""Kernels in one run of the compiler at most."""


class CellBroken(RuntimeError):
    """The process of a cell came to its end without a verdict: an error of eqfuzz itself, told in its notes."""


@dataclasses.dataclass
class _Task:
    """A cell to judge: on torch's own path where the ``fast`` one has shown something."""

    subject: LoadedVariant
    device: str
    config: Config
    fast: JudgedCell | None = None

    @property
    def stock(self) -> bool:
        return self.fast is not None or not self.config.shares_kernels

    @property
    def place(self) -> tuple[str, str]:
        return self.device, self.config.name

    @property
    def where(self) -> dict[str, Any]:
        return {"variant": self.subject.number, "device": self.device, "config": self.config.name}


class BatchedCells:
    """Judges the cells of the subjects it is given, a batch at a time.

    What the shared path shows, the death of a process included, is judged again on torch's stock path in a new
    process, and only that counts. ``counts`` says what became of the kernels.
    """

    def __init__(self, case: Case, judge: CellJudge, tell: Tell) -> None:
        self._case = case
        self._judge = judge
        self._clock: StageTimer = judge.clock
        self._tell = tell
        self._tasks: deque[_Task] = deque()
        self._waiting: list[tuple[_Task, CellProcess, list[Kernel]]] = []
        self._built = KernelCache()
        self._codes: set[tuple[tuple[str, str], tuple[str, ...]]] = set()
        self._rng = random.Random(f"{case.seed} {case.program.digest} full")
        self._dropped: set[tuple[str, str]] = set()
        self._emit = judge.clock.announce
        self.counts = {"built": 0, "reused": 0, "alone": 0, "compiler_runs": 0}

    def add(self, subject: LoadedVariant, cells: Sequence[Place]) -> None:
        """Take its cells in; judge what has come together when it is enough, and at once what shares no kernels.

        Inductor with options of its own has a process of its own all the same: an option may kill it. So has every cell
        with several threads: this process must be able to fork the next.
        """
        for device, config in cells:
            if config.backend == "inductor" or config.threads > 1:
                self._tasks.append(_Task(subject, device, config))
            else:
                self._tell(subject.number, device, config.name, self._judge.cell(subject, device, config))
        if len(self._tasks) >= TOGETHER:
            self.finish()

    def finish(self) -> None:
        """Judge and tell all that is left."""
        # A collection in a child would touch, and so copy, every page that holds an object.
        gc.freeze()
        try:
            while self._tasks or self._waiting:
                if self._tasks and len(self._waiting) < TOGETHER:
                    task = self._tasks.popleft()
                    if task.place not in self._dropped:
                        self._start(task)
                else:
                    self._go_on()
        finally:
            for _, process, _ in self._waiting:
                process.close()
            self._waiting.clear()

    def _start(self, task: _Task) -> None:
        self._clock.enter("fork", self._case.compile_seconds, **task.where)
        full = task.subject.number > 0 and self._rng.random() < FULL_SHARE
        self._follow(task, CellProcess(partial(_live, self._judge, task, full)))

    def _go_on(self) -> None:
        """Build what the waiting cells lack, and let each of them run to its end or to its next kernels."""
        waiting, self._waiting = deque(self._waiting), []
        wanted = {kernel.key: kernel for _, _, kernels in waiting for kernel in kernels}
        kernels = [kernel for kernel in wanted.values() if kernel not in self._built]
        for first in range(0, len(kernels), _UNIT):
            self._build(kernels[first : first + _UNIT])
        while waiting:
            task, process, lacked = waiting.popleft()
            if task.place in self._dropped:
                process.close()
                continue
            try:
                process.answer(self._found(lacked))
                self._follow(task, process)
            except BaseException:
                for _, left, _ in waiting:
                    left.close()
                raise

    def _found(self, wanted: Sequence[Kernel]) -> dict[str, Any]:
        found = [self._built[kernel] for kernel in wanted]
        return {"built": [dataclasses.asdict(built) if built is not None else None for built in found]}

    def _follow(self, task: _Task, process: CellProcess) -> None:
        """Attend to a running cell until it waits for kernels or has ended."""
        judged: JudgedCell | None = None
        codes: tuple[str, ...] = ()
        account: dict[str, float] = {}
        while True:
            event = process.listen(self._emit)
            match event["event"]:
                case "kernels":
                    kernels = [Kernel(tuple(k["argtypes"]), k["source"]) for k in event["kernels"]]
                    if any(kernel not in self._built for kernel in kernels):
                        self._waiting.append((task, process, kernels))
                        return
                    self.counts["reused"] += len(kernels)
                    process.answer(self._found(kernels))
                case "judged":
                    judged, codes = JudgedCell.from_json(event["judged"]), tuple(event["codes"])
                    self.counts["alone"] += event["alone"]
                    account = event["account"]
                case "lines":
                    self._emit(event)
                case _:
                    process.close()
                    self._clock.forked(account)
                    self._end(task, judged, codes, event)
                    return

    def _end(self, task: _Task, judged: JudgedCell | None, codes: tuple[str, ...], ended: Event) -> None:
        if judged is None:
            judged = self._died(task, ended)
            if judged is None:
                return
        elif task.fast is not None:
            judged = dataclasses.replace(judged, erased=task.fast.erased, features=task.fast.features)
        elif codes:
            place = task.place, codes
            erased = place in self._codes
            judged = dataclasses.replace(judged, erased=erased, features=[] if erased else judged.features)
            self._codes.add(place)
        if not task.stock and judged.verdict.is_finding:
            self._tasks.appendleft(dataclasses.replace(task, fast=judged))
            return
        if task.fast is not None and not judged.verdict.is_finding:
            words = (
                f"{task.fast.verdict.kind} where kernels are built together, {judged.verdict.kind} on the stock path"
            )
            flaky = Verdict(VerdictKind.FLAKY, f"{words}: {task.fast.verdict.message}", cause=NOT_STOCK)
            judged = dataclasses.replace(judged, verdict=flaky)
        self._tell(task.subject.number, task.device, task.config.name, judged)
        if judged.verdict.kind is VerdictKind.HANG and task.subject.number == 0:
            self._dropped.add(task.place)  # else every variant would wait out the same limit

    def _died(self, task: _Task, ended: Event) -> JudgedCell | None:
        """What the death of a cell's process says of the cell; None where the cell is tried again."""
        if ended["reason"] in ("error", "done"):
            broken = CellBroken(f"a cell ended without a verdict: {ended['detail'] or 'it said nothing'}")
            broken.add_note(ended["traceback"] or "")
            raise broken
        words = death_in_words(ended["stage"], ended["reason"], ended["detail"])
        if ended["stage"] == "reference" and task.subject.number not in self._judge.no_reference:
            self._judge.no_reference = [*self._judge.no_reference, task.subject.number]
            self._tasks.appendleft(task)
            return None
        if ended["stage"] == "threads":
            return JudgedCell(Verdict(VerdictKind.UNSUPPORTED, words), ended["seconds"])
        if ended["stage"] == "speed":
            return JudgedCell(Verdict(VerdictKind.INCONCLUSIVE, words), ended["seconds"])
        return JudgedCell(Verdict(DEATHS[ended["reason"]], words), ended["seconds"])

    def _build(self, kernels: Sequence[Kernel]) -> None:
        """One run of the compiler, and where it fails, one for each half: down to the kernel that it does not take."""
        seconds = self._case.compile_seconds + 5.0 * len(kernels)
        self._clock.enter("build", seconds + GRACE, variant=0)
        process = CellProcess(partial(_build, kernels, seconds))
        try:
            event = process.listen(self._emit)
            while event["event"] != "built" and event["event"] != EXIT:
                event = process.listen(self._emit)
            if event["event"] == "built":
                process.listen(self._emit)
        finally:
            process.close()
        self._clock.forked({}, rest=COMPILER)
        self.counts["compiler_runs"] += 1
        if event["event"] == "built":
            self.counts["built"] += len(kernels)
            self._built.add(kernels, [Built(**at) for at in event["at"]])
        elif len(kernels) == 1:
            self._built.refuse(kernels[0])
        else:
            half = len(kernels) // 2
            self._build(kernels[:half])
            self._build(kernels[half:])


def _live(judge: CellJudge, task: _Task, full: bool, emit: Emit, answer: Answer) -> None:
    """What the process of a cell does."""
    judge.clock = StageTimer(emit)
    if task.fast is not None:  # what counts is torch's own path, with nothing attached
        judge.case = dataclasses.replace(judge.case, signals=False, traced=False)

    def ask(kernels: Sequence[Kernel]) -> list[Built | None]:
        emit({"event": "kernels", "kernels": [dataclasses.asdict(kernel) for kernel in kernels]})
        return [Built(**built) if built is not None else None for built in answer()["built"]]

    codes: list[str] = []
    watch_loaded_code(codes.append)
    deferral = None if task.stock else Deferral(ask, salt=f"variant {task.subject.number}" if full else "")
    with contextlib.nullcontext() if task.stock else shortcuts():
        judged = judge.cell(task.subject, task.device, task.config)
    told = {"judged": judged.to_json(), "codes": [_digest(code) for code in codes], "account": judge.clock.account()}
    emit({"event": "judged", **told, "alone": deferral.alone if deferral is not None else 0})


def _build(kernels: Sequence[Kernel], seconds: float, emit: Emit, _: Answer) -> None:
    emit({"event": "stage", "stage": "build", "seconds": seconds, "variant": 0})
    translation_unit.prefer_mold()
    emit({"event": "built", "at": [dataclasses.asdict(at) for at in translation_unit.build(kernels)]})


def _digest(code: str) -> str:
    """Equal for generated code that differs in comments and names of kernels only: they tell what they were made of."""
    text = re.sub(r"(?m)^\s*#(?!include).*\n", "", code)
    names = {name: f"kernel_{number}" for number, name in enumerate(dict.fromkeys(re.findall(r"\bcpp_fused\w*", text)))}
    text = re.sub(r"\bcpp_fused\w*", lambda found: names[found[0]], text)
    return hashlib.sha256(text.encode()).hexdigest()[:24]
