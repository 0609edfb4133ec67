"""What children do for a benchmark of the runner: the same programs compiled in three ways."""

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
    """Run it in eager, compile it and run that, as a fuzzer with a process per program does."""
    loaded = Loaded(program)
    calls = loaded.calls(0)
    observe(loaded.instance, calls)
    with DEFAULT_CONFIG.patched():
        compiled = observe(loaded.instance, calls, transform=DEFAULT_CONFIG.compile)
    if compiled.calls[0].raised is not None:
        raise SystemExit(f"{program.name}: {compiled.calls[0].raised.message}")


def run_stock(data: dict[str, Any], emit: Emit) -> None:
    """One program in a forked child, compiled as torch does it."""
    emit({"event": "stage", "stage": "compile", "seconds": 300.0})
    compile_one(Program.from_json(data["programs"][0]))


def run_batch(data: dict[str, Any], emit: Emit) -> None:
    """Programs that have nothing to do with each other, in one batch of eqfuzz's, judged too."""
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
    told: list[JudgedCell] = []
    began = time.monotonic()
    subjects: list[LoadedVariant] = []
    for number, program in enumerate(programs):
        loaded = Loaded(program)
        calls = loaded.calls(0)
        subjects.append(LoadedVariant(number, original(program), loaded, calls, observe(loaded.instance, calls)))
    batches = BatchedCells(
        case, CellJudge(case, clock, subjects[0], ()), lambda _v, _d, _c, judged: told.append(judged)
    )
    for subject in subjects:
        batches.add(subject)
    batches.finish()
    emit(
        {
            "event": "batch",
            "verdicts": [str(judged.verdict.kind) for judged in told],
            "erased": sum(judged.erased for judged in told),
            "account": clock.account(),
            "kernels": batches.counts,
            "seconds": time.monotonic() - began,
        }
    )
