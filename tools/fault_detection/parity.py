"""Compare the verdicts of the fast and the stock runner: ``python -m tools.fault_detection.parity``.

First on shipped seeds under random derivations, then under each planted fault on its witness and a few seeds. Prints
every cell that differs. Exit code 1 where one does.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from eqfuzz.mutate.seed_run import RunResources, SeedRun
from eqfuzz.mutate.settings import CompileSettings, OracleSettings, RewriteSettings, Settings
from eqfuzz.program.program import InvalidSeed
from eqfuzz.rewrite.rules.library import shipped_rules
from eqfuzz.run.environment import Environment
from eqfuzz.run.limits import Limits
from eqfuzz.run.processes.pool import Pool
from tools.fault_detection.corpus.corpus import shipped_seeds
from tools.fault_detection.fault import Fault, read_faults

DEPTH = 8
PROGRESS_SECONDS = 30.0

WITNESS = """\
from tools.fault_detection.fault import FOLDER, execute, read_fault

PROGRAM, CALLS = execute(read_fault(FOLDER / "{name}.py"), planted=False).witness()


def program(*args):
    return PROGRAM(*args)


def inputs(rng):
    yield from CALLS
"""

Verdicts = dict[tuple[str, int], str]
"""The kind of verdict, by seed and number of the variant."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.fault_detection.parity", description=__doc__)
    parser.add_argument("--programs", type=int, default=500, help="at least; 0: none")
    parser.add_argument("--beside", type=int, default=4, help="seeds under each fault beside its witness")
    parser.add_argument(
        "--seeds", default="", metavar="PREFIX", help="shipped seeds whose path begins so (default: all)"
    )
    parser.add_argument("--skip", type=int, default=0, help="the first N seeds are left out")
    parser.add_argument("--only", nargs="*", metavar="NAME", help="these faults (default: all)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    chosen = parser.parse_args()
    seeds = shipped_seeds(chosen.seeds)
    differing = 0
    settings = Settings(
        out=Path(),
        seed=chosen.seed,
        rewriting=RewriteSettings(strategy="random", depth=DEPTH, variants=5),
        judging=OracleSettings(steps=0, input_sets=1),
    )
    if chosen.programs:
        variants = -(-chosen.programs // len(seeds))
        varied = dataclasses.replace(
            settings, rewriting=RewriteSettings(strategy="random", depth=DEPTH, variants=variants)
        )
        differing += _compare("no fault", seeds[chosen.skip :], varied, chosen.jobs)
    settings = dataclasses.replace(settings, rewriting=RewriteSettings(strategy="none", variants=0))
    faults = [fault for fault in read_faults() if chosen.only is None or fault.name in chosen.only]

    def compare_under(fault: Fault) -> int:
        beside = random.Random(f"{chosen.seed} {fault.name}").sample(seeds, chosen.beside)
        with tempfile.TemporaryDirectory() as place:
            witness = Path(place) / f"{fault.name}.py"
            witness.write_text(WITNESS.format(name=fault.name))
            planted = dataclasses.replace(
                settings, compiling=CompileSettings(preload=fault.path), judging=OracleSettings(steps=0)
            )
            return _compare(fault.name, [witness, *beside], planted, jobs=1)

    with ThreadPoolExecutor(chosen.jobs) as threads:
        differing += sum(threads.map(compare_under, faults))
    print(f"{differing} verdicts differ")
    return int(differing > 0)


def _compare(name: str, paths: Sequence[Path], settings: Settings, jobs: int) -> int:
    """Print where the runners differ and the number of each verdict. Returns how many differ."""
    with tempfile.TemporaryDirectory(prefix="eqfuzz-parity-") as out:
        environment = Environment(Path(out), settings.compiling.preload)
        with Pool(environment, Limits(), jobs=jobs) as pool, ThreadPoolExecutor(jobs) as threads:

            def both(path: Path) -> tuple[Verdicts, Verdicts]:
                fast, stock = (
                    dataclasses.replace(settings, compiling=settings.compiling.model_copy(update={"runner": runner}))
                    for runner in ("fast", "stock")
                )
                return _verdicts(path, fast, pool, environment), _verdicts(path, stock, pool, environment)

            fast, stock = Verdicts(), Verdicts()
            last_progress = time.monotonic()
            for count, (of_fast, of_stock) in enumerate(threads.map(both, paths), 1):
                fast |= of_fast
                stock |= of_stock
                if time.monotonic() - last_progress > PROGRESS_SECONDS:
                    last_progress = time.monotonic()
                    differ = "; ".join(_differing(fast, stock))
                    print(
                        f"{name}: {count} of {len(paths)} seeds, {len(stock)} programs, differ: {differ or 'none'}",
                        flush=True,
                    )
    differing = _differing(fast, stock)
    counts = ", ".join(f"{count} {kind}" for kind, count in Counter(stock.values()).most_common())
    lines = [f"{name}: {len(stock)} compiled programs, {len(differing)} differ ({counts})"]
    lines += [f"  {line}" for line in differing]
    print("\n".join(lines), flush=True)
    return len(differing)


def _differing(fast: Verdicts, stock: Verdicts) -> list[str]:
    cells = [cell for cell in sorted(fast.keys() | stock.keys()) if fast.get(cell) != stock.get(cell)]
    return [
        f"{name} {variant}: {fast.get((name, variant))} fast, {stock.get((name, variant))} stock"
        for name, variant in cells
    ]


def _verdicts(path: Path, settings: Settings, pool: Pool, environment: Environment) -> Verdicts:
    rules = tuple(rule.name for rule in shipped_rules())
    resources = RunResources(rules, pool, environment, Limits(), versions={})
    run = SeedRun(0, path, settings, resources, lambda _: None, threading.Event())
    try:
        run.judge()
    except InvalidSeed as error:
        return {(path.name, 0): f"invalid: {error}"}
    return {(path.name, cell.variant): str(cell.verdict.kind) for cell in run.cells.values() if cell.config}


if __name__ == "__main__":
    sys.exit(main())
