"""The quick self-check: clean programs must agree and planted faults must be seen.

Otherwise the findings of a run mean nothing.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator
from pathlib import Path

import torch

from eqfuzz.events.event import Handler
from eqfuzz.events.self_check import SelfCheckProgress, SelfCheckStep, SelfCheckSummary
from eqfuzz.oracle.calibration.recall import Recall, measure
from eqfuzz.oracle.compare.checks import ORACLES
from eqfuzz.oracle.compare.verdict import Verdict, VerdictKind
from eqfuzz.program.formats import read_program
from eqfuzz.program.program import Program
from eqfuzz.program.shipped import folder
from eqfuzz.run.configs.named import DEFAULT_CONFIG, Config
from eqfuzz.run.environment import Environment
from eqfuzz.run.limits import Limits
from eqfuzz.run.messages.job import ChildExit, ProgramInvalid
from eqfuzz.run.messages.seed_jobs import CellReport, RunJob
from eqfuzz.run.processes.pool import Pool

CLEAN = (
    "handwritten/arithmetic/relu_residual.py",
    "handwritten/mutation/inplace_chain.py",
    "handwritten/reductions/logsumexp.py",
)
"""The last one has gradients: backward runs in a fork of a process that has compiled."""

WITH_RELU = CLEAN[:1]
PLANTED_IN = ("handwritten/matmul/attention.py", "handwritten/reductions/logsumexp.py")
CERTAIN = ("relative error 1e-2", "zeroed", "number becomes NaN", "wrong dtype", "wrong stride", "mutated input")
"""Faults that no measured bound excuses in the programs of ``PLANTED_IN``."""

QUICK_STEPS = 3

_DTYPES = (torch.float32, torch.float64)

FAULTY = Config(name="relu-is-wrong", inductor={"cpp.inject_relu_bug_TESTING_ONLY": "accuracy"})


def quick_check(handler: Handler, out: Path) -> SelfCheckSummary:
    """Run the steps, hand each to ``handler`` and then the summary, which is returned too.

    Kernels are kept below ``out``: in the folder of a run that follows, the first compile is not lost, and a second
    check costs little. Raises RunnerFailed when no process can be started.
    """
    began = time.monotonic()
    steps = []
    out.mkdir(parents=True, exist_ok=True)
    environment = Environment(out)
    environment.keep_caches_here()
    handler(SelfCheckProgress(part="quick check", done=0, total=QUICK_STEPS))
    with Pool(environment, Limits(), jobs=1) as pool:
        for step in quick_steps(pool):
            steps.append(step)
            handler(step)
            handler(SelfCheckProgress(part="quick check", done=len(steps), total=QUICK_STEPS))
    failed = [step.step for step in steps if not step.passed]
    summary = SelfCheckSummary(passed=not failed, failed=failed, seconds=round(time.monotonic() - began, 3))
    handler(summary)
    return summary


def shipped_program(name: str) -> Program:
    """The shipped seed ``name``, a path below ``seeds/``."""
    return read_program(folder("seeds") / name, name)


def check_job(program: Program) -> RunJob:
    """A job that compiles the program once, as it is, and asks every built-in oracle."""
    return RunJob(program=program, configs=(DEFAULT_CONFIG,), checks=ORACLES, steps=0)


def verdicts_of(pool: Pool, job: RunJob) -> Iterator[Verdict]:
    """The verdicts on the compiled cells, or on the variants of a dry run; on a dead child or an invalid seed too."""
    for event in pool.stream(job):
        match event:
            case CellReport() if bool(event.config) is not job.dry_run:
                yield event.verdict
            case ProgramInvalid():
                yield Verdict(VerdictKind.INVALID_SEED, event.reason)
            case ChildExit() if event.reason != "done":
                yield Verdict(VerdictKind.PROCESS_CRASH, event.detail)
            case _:
                pass


def quick_steps(pool: Pool) -> Iterator[SelfCheckStep]:
    """The steps of the quick check, each as it is done; programs are compiled in ``pool``'s children."""
    began = time.monotonic()
    verdicts = _compiled(pool, CLEAN, DEFAULT_CONFIG)
    odd = [verdict.message for verdict in verdicts if verdict.kind is not VerdictKind.AGREE]
    detail = odd[0] if odd else f"{len(verdicts)} programs, compiled, agree with eager"
    yield _step("clean programs agree", len(verdicts) == len(CLEAN) and not odd, detail, began)

    began = time.monotonic()
    seen = [v.message for v in _compiled(pool, WITH_RELU, FAULTY) if v.kind is VerdictKind.WRONG_RESULT]
    detail = seen[0] if seen else "a relu compiled wrong on purpose went unnoticed"
    yield _step("a planted compiler fault is found", bool(seen), detail, began)

    began = time.monotonic()
    table = Recall()
    for name in PLANTED_IN:
        table.add(measure(shipped_program(name), 0, 2, _DTYPES))
    certain = {row: count for row, count in table.rows.items() if row.fault in CERTAIN}
    missed = [f"{row.fault} in {row.dtype} {row.group}" for row, count in certain.items() if count.recall() < 1]
    planted = sum(count.planted for count in certain.values())
    detail = f"missed: {', '.join(missed)}" if missed else f"{planted} faults planted in observations, all seen"
    yield _step("planted wrong numbers are seen", planted > 0 and not missed, detail, began)


def _compiled(pool: Pool, names: tuple[str, ...], config: Config) -> list[Verdict]:
    jobs = [dataclasses.replace(check_job(shipped_program(name)), configs=(config,)) for name in names]
    return [verdict for job in jobs for verdict in verdicts_of(pool, job)]


def _step(name: str, passed: bool, detail: str, began: float) -> SelfCheckStep:
    return SelfCheckStep(step=name, passed=passed, detail=detail, seconds=round(time.monotonic() - began, 3))
