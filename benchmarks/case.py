"""CPU-seconds of a case (an original and five variants, all four cells): eqfuzz beside one fresh process per cell.

Both columns start from an empty kernel cache and share Inductor's precompiled header, which is built before the
clock starts. Repeats are interleaved and medians printed; only the ratio of one run means anything.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from rich.console import Console
from rich.table import Table

from eqfuzz.program.formats import read_program
from eqfuzz.program.program import Program
from eqfuzz.program.shipped import folder
from eqfuzz.rewrite.library import shipped_rules
from eqfuzz.run.case import Case
from eqfuzz.run.configs import DEFAULT_CONFIG
from eqfuzz.run.environment import Environment
from eqfuzz.run.limits import Limits
from eqfuzz.run.pool import Pool

VARIANTS = 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3, help="how many shipped seeds to take")
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    everything = sorted(folder("seeds").glob("handwritten/**/*.py"))
    chosen = everything[:: max(1, len(everything) // arguments.seeds)][: arguments.seeds]
    table = Table(
        "seed", "compiled cells", "eqfuzz CPU-s", "process per cell CPU-s", "ratio", "judging", title="one case"
    )
    ratios: list[float] = []
    judging: list[float] = []
    with tempfile.TemporaryDirectory() as scratch:
        environment = Environment(Path(scratch))
        with Pool(environment, Limits(), runner="fork", jobs=1) as pool:
            for path in chosen:
                program = read_program(path)
                ours: list[float] = []
                stages: Counter[str] = Counter()
                theirs: list[float] = []
                cells = 0
                for _ in range(arguments.repeats):
                    _empty(environment)
                    seconds, variants, timings = _case(pool, program)
                    stages.update(timings)
                    ours.append(seconds)
                    cells = 1 + len(variants)
                    theirs.append(_processes(environment, [program, *variants]))
                a, b = statistics.median(ours), statistics.median(theirs)
                ratios.append(b / a)
                name = str(path.relative_to(folder("seeds")))
                share = (stages["judge"] + stages["reference"]) / stages.total()
                judging.append(share)
                table.add_row(name, str(cells), f"{a:.2f}", f"{b:.2f}", f"{b / a:.1f}", f"{share:.1%}")
    console = Console()
    console.print(table)
    console.print(f"median ratio {statistics.median(ratios):.1f} over {len(chosen)} seeds, {arguments.repeats} repeats")
    console.print(f"judging, reference and comparisons, takes {statistics.median(judging):.1%} of a case at the median")


def _case(pool: Pool, program: Program) -> tuple[float, list[Program], dict[str, float]]:
    """The case's CPU seconds, its variants, and wall seconds by stage."""
    case = Case(
        program=program,
        seed=0,
        rules=tuple(r.name for r in shipped_rules()),
        strategy="each",
        depth=1,
        variants=VARIANTS,
        devices=("cpu",),
        configs=(DEFAULT_CONFIG,),
        load_seconds=60,
        eager_seconds=60,
        compile_seconds=300,
    )
    variants: list[Program] = []
    timings: dict[str, float] = {}
    for event in pool.run(case.to_json()):
        if event["event"] == "rewritten":
            variants = [program.with_source(v["source"]) for v in event["variants"]]
        if event["event"] == "timings":
            timings = event["seconds"]
        if event["event"] == "exit":
            if event["reason"] != "done":
                raise SystemExit(f"{program.name}: {event['detail']}")
            return event["cpu_seconds"], variants, timings
    raise SystemExit(f"{program.name}: the runner ended without saying how")


def _processes(environment: Environment, programs: list[Program]) -> float:
    before = _children()
    for program in programs:
        for compiled in (False, True):
            cache = Path(tempfile.mkdtemp(dir=environment.out))
            subprocess.run(
                [sys.executable, "-m", "benchmarks.one_cell"],
                input=json.dumps({"program": program.to_json(), "seed": 0, "compiled": compiled}),
                text=True,
                check=True,
                env=environment.variables(cuda=False, cache=cache),
                capture_output=True,
            )
            shutil.rmtree(cache)
    return _children() - before


def _children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _empty(environment: Environment) -> None:
    """Throw the compiled kernels away; the precompiled header lies elsewhere and stays."""
    shutil.rmtree(environment.cache_dir(), ignore_errors=True)


if __name__ == "__main__":
    main()
