"""Targets of the child processes of `benchmarks.runner`: the same programs compiled in different ways."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from eqfuzz.oracle.observe.observer import observe
from eqfuzz.program.load import Loaded
from eqfuzz.program.program import Program
from eqfuzz.rewrite.derivation import original
from eqfuzz.run.configs.named import DEFAULT_CONFIG
from eqfuzz.run.jobs.batch import BatchedCells
from eqfuzz.run.jobs.case import Case
from eqfuzz.run.jobs.cell_judge import CellJudge, JudgedCell
from eqfuzz.run.jobs.loaded_program import LoadedVariant
from eqfuzz.run.jobs.stage_timer import StageTimer

Emit = Callable[[dict[str, Any]], None]


def compile_one(program: Program) -> None:
    """Run ``program`` in eager and compiled, as a fuzzer with one process per program does."""
    loaded = Loaded(program)
    calls = loaded.calls(0)
    observe(loaded.instance, calls)
    with DEFAULT_CONFIG.patched():
        compiled = observe(loaded.instance, calls, transform=DEFAULT_CONFIG.compile)
    if compiled.calls[0].raised is not None:
        raise SystemExit(f"{program.name}: {compiled.calls[0].raised.message}")


def run_stock(data: dict[str, Any], emit: Emit) -> None:
    """Compile one program in a forked child, on torch's stock path."""
    emit({"event": "stage", "stage": "compile", "seconds": 300.0})
    compile_one(Program.from_json(data["programs"][0]))


def run_batch(data: dict[str, Any], emit: Emit) -> None:
    """Compile and judge unrelated programs in one batch of eqfuzz."""
    programs = [Program.from_json(program) for program in data["programs"]]
    case = Case(
        program=programs[0],
        seed=0,
        rules=(),
        strategy="each",
        depth=1,
        variants=0,
        devices=("cpu",),
        configs=(DEFAULT_CONFIG,),
        load_seconds=60,
        eager_seconds=60,
        compile_seconds=300,
        in_batches=True,
    )
    clock = StageTimer(emit)
    clock.enter("eager", 300.0)
    cells: list[JudgedCell] = []
    start = time.monotonic()
    subjects: list[LoadedVariant] = []
    for number, program in enumerate(programs):
        loaded = Loaded(program)
        calls = loaded.calls(0)
        subjects.append(LoadedVariant(number, original(program), loaded, calls, observe(loaded.instance, calls)))
    batches = BatchedCells(
        case, CellJudge(case, clock, subjects[0], ()), lambda _v, _d, _c, judged: cells.append(judged)
    )
    for subject in subjects:
        batches.add(subject)
    batches.finish()
    emit(
        {
            "event": "batch",
            "verdicts": [str(judged.verdict.kind) for judged in cells],
            "erased": sum(judged.erased for judged in cells),
            "account": clock.account(),
            "kernels": batches.counts,
            "seconds": time.monotonic() - start,
        }
    )
