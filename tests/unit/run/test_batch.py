"""The order in which cells run that wait for kernels."""

from __future__ import annotations

import types
from collections.abc import Sequence
from typing import Any

import pytest

from eqfuzz.oracle.compare.verdict import Evidence, Verdict, VerdictKind
from eqfuzz.program.formats import recognise
from eqfuzz.run.configs.named import BUILT_IN, DEFAULT_CONFIG, Config
from eqfuzz.run.jobs import batch
from eqfuzz.run.jobs.batch import TOGETHER, BatchedCells
from eqfuzz.run.kernels.deferred import Built, Kernel
from eqfuzz.run.messages.cell_messages import CellFinished, CellProcessExit, KernelsRequested
from eqfuzz.run.messages.seed_jobs import CellReport, RunJob
from eqfuzz.run.processes.exit_reasons import NO_VERDICT, NOT_RUN

PROGRAM = recognise("def program(x):\n    return x\n\ndef inputs(rng):\n    yield (rng.normal(2),)\n", "seed.py")


CELLS = 3
VERDICTS: dict[int, Verdict] = {}
"""Verdicts of processes, counted from 1; the others agree."""
EVENTS: list[str] = []
"""What cells do, in order."""


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What cells do: each needs one kernel of its own."""
    events = EVENTS
    events.clear()

    class Process:
        started = 0
        seconds = 90.0

        def __init__(self, *_: Any) -> None:
            Process.started += 1
            self.number = Process.started
            self.messages = iter(self.messages_of_cell())
            events.append(f"start {self.number}")

        def messages_of_cell(self):
            if self.number <= CELLS:  # torch's stock path asks for none
                yield KernelsRequested(kernels=(Kernel((), f"kernel {self.number}"),))
            verdict = VERDICTS.get(self.number, Verdict(VerdictKind.AGREE, ""))
            if verdict.kind is VerdictKind.HANG:
                yield CellProcessExit(reason="hang", detail=verdict.message, traceback="", stage="compile", seconds=0.0)
            report = CellReport(variant=self.number, device="cpu", config="inductor", verdict=verdict, seconds=0.0)
            yield CellFinished(report=report, codes=(), account={}, alone=0)
            yield CellProcessExit(reason="done", detail="", traceback="", stage="end", seconds=0.0)

        def listen(self, _: Any) -> Any:
            return next(self.messages)

        def reply(self, _: Any) -> None:
            events.append(f"run {self.number}")

        def shorten(self, seconds: float) -> None:
            events.append(f"{self.number} has {seconds:g} seconds")

        def close(self) -> None:
            pass

    def build(self: BatchedCells, kernels: list[Kernel]) -> None:
        events.append(f"build {len(kernels)}")
        self._built.add(kernels, [Built("library.so", "kernel")] * len(kernels))

    monkeypatch.setattr(batch, "CellProcess", Process)
    monkeypatch.setattr(BatchedCells, "_build", build)
    return events


def judged(
    together: int,
    first: int = 1,
    configs: Sequence[Config] | None = None,
    *,
    traced: bool = False,
    limits: list[float] | None = None,
) -> list[CellReport]:
    """Cells of ``CELLS`` variants; of the ``configs``, one each, of the variants from ``first`` on.

    ``limits`` gets the seconds that processes have.
    """
    reports: list[Any] = []
    entered: list[float] = [] if limits is None else limits
    clock = types.SimpleNamespace(
        enter=lambda _, seconds, *__: entered.append(seconds), announce=None, forked=lambda *_: None
    )
    job = RunJob(program=PROGRAM, configs=(DEFAULT_CONFIG,))

    def own_cell(subject: Any, device: str, config: Config) -> CellReport:
        EVENTS.append(f"judge {config.name} of {subject.number}")
        verdict = Verdict(VerdictKind.AGREE, "")
        return CellReport(variant=subject.number, device=device, config=config.name, verdict=verdict, seconds=0.0)

    judge: Any = types.SimpleNamespace(
        clock=clock, explained=set(), no_reference=[], job=job, cell=own_cell, traced=traced
    )
    cells = BatchedCells(job, judge, reports.append, together)
    for number in range(first, first + CELLS):
        subject: Any = types.SimpleNamespace(number=number)
        cells.add(subject, [("cpu", DEFAULT_CONFIG if configs is None else configs[number - first])])
    cells.finish()
    return reports


def test_kernels_of_several_cells_are_built_together(log: list[str]):
    judged(TOGETHER)
    assert log == ["start 1", "start 2", "start 3", "build 3", "run 1", "run 2", "run 3"]


def test_cells_of_large_programs_end_one_by_one(log: list[str]):
    judged(1)
    assert log == ["start 1", "build 1", "run 1", "start 2", "build 1", "run 2", "start 3", "build 1", "run 3"]


def test_cells_of_this_process_come_after_those_of_others(log: list[str]):
    judged(TOGETHER, configs=[BUILT_IN["aot_eager"], DEFAULT_CONFIG, DEFAULT_CONFIG])
    assert log == ["start 1", "start 2", "build 2", "run 1", "run 2", "judge aot_eager of 1"]


@pytest.mark.parametrize(("traced", "seconds"), [(False, 90.0), (True, 270.0)])
def test_traced_cells_have_three_times_the_time(log: list[str], traced: bool, seconds: float):
    limits: list[float] = []
    with_mode = DEFAULT_CONFIG.model_copy(update={"mode": "max-autotune"})
    assert not with_mode.shares_kernels
    judged(TOGETHER, configs=[DEFAULT_CONFIG, with_mode, DEFAULT_CONFIG], traced=traced, limits=limits)
    assert limits[:CELLS] == [seconds] * CELLS


def wrong(path: str) -> Verdict:
    return Verdict(VerdictKind.WRONG_RESULT, "it differs", Evidence(path=path))


def judged_with(
    monkeypatch: pytest.MonkeyPatch,
    verdicts: dict[int, Verdict],
    first: int = 1,
    configs: Sequence[Config] | None = None,
) -> list[CellReport]:
    for number, verdict in verdicts.items():
        monkeypatch.setitem(VERDICTS, number, verdict)
    return judged(TOGETHER, first, configs)


def test_one_symptom_is_judged_again_once(log: list[str], monkeypatch: pytest.MonkeyPatch):
    reports = judged_with(monkeypatch, dict.fromkeys((1, 2, 3, 4), wrong("output")))
    assert [report.verdict.symptom for report in reports] == [wrong("output").symptom] * 3
    assert [event for event in log if event.startswith("start")] == ["start 1", "start 2", "start 3", "start 4"]


def test_other_symptoms_are_judged_again(log: list[str], monkeypatch: pytest.MonkeyPatch):
    judged_with(monkeypatch, {number: wrong(f"output[{number % 3}]") for number in range(1, 7)})
    assert [event for event in log if event.startswith("start")][-1] == "start 6"


def test_symptom_that_the_stock_path_lacks_is_judged_again_each_time(log: list[str], monkeypatch: pytest.MonkeyPatch):
    reports = judged_with(monkeypatch, dict.fromkeys((1, 2, 3), wrong("output")))
    assert [report.verdict.kind for report in reports] == [VerdictKind.FLAKY] * 3


HANG = Verdict(VerdictKind.HANG, "no end of stage compile after 90 seconds")


def test_variants_of_an_original_that_hangs_are_not_judged(log: list[str], monkeypatch: pytest.MonkeyPatch):
    reports = judged_with(monkeypatch, {1: HANG, 4: HANG}, first=0)
    assert [report.verdict.kind for report in reports] == [VerdictKind.HANG, *[VerdictKind.INCONCLUSIVE] * 2]
    assert {report.verdict.message for report in reports[1:]} == {NOT_RUN}
    assert [event for event in log if event.startswith("run")] == ["run 1"]


def test_variants_are_judged_where_the_original_hangs_on_the_shared_path_only(
    log: list[str], monkeypatch: pytest.MonkeyPatch
):
    reports = judged_with(monkeypatch, {1: HANG}, first=0)
    assert [report.verdict.kind for report in reports] == [VerdictKind.FLAKY, VerdictKind.AGREE, VerdictKind.AGREE]


def test_other_cells_of_a_program_that_hangs_have_less_time(log: list[str], monkeypatch: pytest.MonkeyPatch):
    configs = [DEFAULT_CONFIG, *(DEFAULT_CONFIG.model_copy(update={"name": name}) for name in ("second", "third"))]
    reports = judged_with(monkeypatch, {1: HANG, 4: HANG, 2: HANG}, configs=configs)
    assert [report.verdict.kind for report in reports] == [
        VerdictKind.HANG,
        VerdictKind.INCONCLUSIVE,
        VerdictKind.AGREE,
    ]
    assert NO_VERDICT in reports[1].verdict.message
    assert log[-4:] == ["2 has 30 seconds", "run 2", "3 has 30 seconds", "run 3"]
