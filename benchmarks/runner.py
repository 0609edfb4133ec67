"""CPU seconds per distinct compiled program: one process each, one fork of a warm process each, or eqfuzz's batches.

All columns get the same random programs, which are in no cache; the header, vector width probes and the start of the
warm processes are not measured. Only eqfuzz judges what it runs. Repeats are interleaved, and medians printed; only
ratios of one run are meaningful. A second table shows where ``eqfuzz mutate`` spends its CPU time on shipped seeds.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.programs import programs
from benchmarks.targets import BatchJob, BatchMeasured, StockJob
from eqfuzz.program.program import Program
from eqfuzz.program.shipped import folder
from eqfuzz.run.environment import Environment
from eqfuzz.run.limits import Limits
from eqfuzz.run.processes.pool import Pool

KINDS = {"12 operators": (12, False), "30 operators": (30, False), "12 operators, backward": (12, True)}
BATCH = 12
PROCESSES = 4
"""Programs per repeat in the slow column of one process each."""

COMPILER_STAGES = ("compile", "g++", "build")
"""The stages of a case in ``torch.compile`` or the C++ compiler."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", choices=KINDS, help="programs of this kind (default: all)")
    parser.add_argument("--seeds", type=int, default=12, help="shipped seeds for the second table; 0: none")
    arguments = parser.parse_args()
    console = Console(width=None if sys.stdout.isatty() else 140)
    with tempfile.TemporaryDirectory() as scratch:
        console.print(_columns(Path(scratch), arguments.repeats, [arguments.only] if arguments.only else list(KINDS)))
        if arguments.seeds:
            console.print(_stages(Path(scratch) / "mutate", arguments.seeds))


def _columns(scratch: Path, repeats: int, kinds: Sequence[str]) -> Table:
    spent: dict[tuple[str, str], list[float]] = defaultdict(list)
    environment = Environment(scratch)
    stock = Pool(environment, Limits(), jobs=1, target=StockJob.TARGET)
    batch = Pool(environment, Limits(), jobs=1, target=BatchJob.TARGET)
    with stock, batch:
        _one_each(stock, [next(programs(3, backward=True, seed=99))])
        _together(batch, [next(programs(3, backward=True, seed=98))])
        _processes(environment, [next(programs(3, backward=True, seed=97))])
        for repeat, name in itertools.product(range(repeats), kinds):
            operators, backward = KINDS[name]
            draw = programs(operators, backward=backward, seed=repeat)
            spent[name, "process"].append(_processes(environment, list(itertools.islice(draw, PROCESSES))))
            spent[name, "fork"].append(_one_each(stock, list(itertools.islice(draw, BATCH))))
            spent[name, "eqfuzz"].append(_together(batch, list(itertools.islice(draw, BATCH))))
            spent[name, "erased"].append(_erased(batch, next(draw)))
    table = Table(title=f"CPU seconds per program, medians of {repeats} repeats; two cores make 120 / seconds a minute")
    for heading in ("program", "process each", "warm fork each", "eqfuzz", "programs/min", "erased", "ratios"):
        table.add_column(heading, justify="left" if heading == "program" else "right")
    for name in kinds:
        process, fork, ours, erased = (
            statistics.median(spent[name, column]) for column in ("process", "fork", "eqfuzz", "erased")
        )
        ratios = f"{process / ours:.1f} and {fork / ours:.1f}"
        table.add_row(
            name, f"{process:.2f}", f"{fork:.2f}", f"{ours:.2f}", f"{120 / ours:.0f}", f"{erased:.2f}", ratios
        )
    return table


def _processes(environment: Environment, chosen: Sequence[Program]) -> float:
    variables = environment.variables(cuda=False, cache=environment.out / "processes")
    before = _children()
    for program in chosen:
        request = {"source": program.source, "backward": "requires_grad" in program.source}
        command = [sys.executable, "-m", "benchmarks.one_program"]
        subprocess.run(
            command, input=json.dumps(request), text=True, check=True, env=variables, stdout=subprocess.DEVNULL
        )
    return (_children() - before) / len(chosen)


def _one_each(pool: Pool, chosen: Sequence[Program]) -> float:
    return sum(_cost(pool, StockJob(programs=(program,)))[0] for program in chosen) / len(chosen)


def _together(pool: Pool, chosen: Sequence[Program]) -> float:
    return _cost(pool, BatchJob(programs=tuple(chosen)))[0] / len(chosen)


def _erased(pool: Pool, program: Program) -> float:
    """CPU seconds of a program for which the compiler generates the same code as for another."""
    same = [program.with_source(f"{program.source}\n# {number}\n") for number in range(BATCH)]
    alone, _ = _cost(pool, BatchJob(programs=(program.with_source(f"{program.source}\nAGAIN = 1\n"),)))
    seconds, batch = _cost(pool, BatchJob(programs=(program, *same)))
    erased = batch.erased if batch is not None else 0
    if erased != len(same):
        raise SystemExit(f"{erased} of {len(same)} programs were recognised as the same")
    return (seconds - alone) / len(same)


def _cost(pool: Pool, job: StockJob | BatchJob) -> tuple[float, BatchMeasured | None]:
    """CPU seconds of one child that runs the programs, and what it measured."""
    reply = pool.ask(job)
    if reply.exit.reason != "done":
        raise SystemExit(f"{reply.exit.detail}\n{reply.exit.output}")
    return reply.exit.cpu_seconds, reply.answer


def _stages(out: Path, count: int) -> Table:
    """CPU time by stage of ``eqfuzz mutate`` over shipped seeds."""
    everything = sorted(folder("seeds").glob("handwritten/**/*.py"))
    chosen = everything[:: max(1, len(everything) // count)][:count]
    command = [sys.executable, "-m", "eqfuzz", "mutate", *map(str, chosen), "--format", "json", "--out", str(out)]
    before = _children()
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    total = _children() - before
    if done.returncode not in (0, 1):
        raise SystemExit(done.stderr)
    events = [json.loads(line) for line in done.stdout.splitlines()]
    summary = events[-1]
    stages: Counter[str] = Counter()
    for event in events:
        if event["event"] == "done":
            stages.update(event["timings"])
    in_cases = sum(event["cpu_seconds"] for event in events if event["event"] == "done")
    totals = f"{summary['cells']} cells, {summary['erased']} of them erased, {summary['cells'] / total:.2f} per CPU-s"
    table = Table("stage", "CPU-s", "share", title=f"eqfuzz mutate on {count} seeds: {totals}")
    for stage, seconds in stages.most_common():
        table.add_row(stage, f"{seconds:.1f}", f"{seconds / in_cases:.1%}")
    compiling = sum(stages[stage] for stage in COMPILER_STAGES)
    table.add_section()
    table.add_row("torch.compile and g++", f"{compiling:.1f}", f"{compiling / in_cases:.1%}")
    table.add_row("all else in the cases", f"{in_cases - compiling:.1f}", f"{1 - compiling / in_cases:.1%}")
    table.add_row("start, confirmation, report", f"{total - in_cases:.1f}", "")
    return table


def _children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    main()
