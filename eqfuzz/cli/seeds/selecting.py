"""``eqfuzz seeds select``: the seeds of a pool."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from eqfuzz.cli.exit_codes import code_of
from eqfuzz.cli.exit_handling import exit_code_of_long_run
from eqfuzz.cli.options.common import EventFormat, Jobs, OptionalSeedPaths, OutputFormat, Quiet, RandomSeed, Unsafe
from eqfuzz.cli.options.seeds import PoolName, SelectedFolder, Where
from eqfuzz.cli.options.values import BadOption, job_count
from eqfuzz.cli.seeds.reporting import report

if TYPE_CHECKING:
    from eqfuzz.program.pools.selector import SeedPool


def select(
    paths: OptionalSeedPaths = None,
    pool: PoolName = "",
    where: Where = "",
    out: SelectedFolder = None,
    seed: RandomSeed = 0,
    jobs: Jobs = None,
    unsafe: Unsafe = False,
    format: EventFormat = OutputFormat.TEXT,
    quiet: Quiet = False,
) -> None:
    """Select seeds by what their programs are made of.

    Each is run once in eager to count operators, kernels of convolutions and weights. Expressions have parameters, layers,
    count('NAME') for how often an ATen operator ran, kernels(3), kernels(5, or_larger=True); and, or, not, comparisons.

    Exit codes: 0 selected, 2 usage, 3 internal error, 130 interrupted.
    """
    chosen = _pool_of(pool, where)
    raise typer.Exit(
        exit_code_of_long_run(
            lambda: _select(paths, chosen, out, seed, job_count(jobs), unsafe, format is OutputFormat.JSON, quiet),
            stopped="nothing was selected",
        )
    )


def _pool_of(name: str, where: str) -> SeedPool:
    """The pool of that name, or of the expression. Raises BadOption."""
    from eqfuzz.program.pools.selector import POOLS, BadSelector, SeedPool, Selector
    from eqfuzz.program.suggestions import did_you_mean

    if bool(name) == bool(where):
        raise BadOption("--pool", f"name a pool ({', '.join(POOLS)}), or write an expression with --where")
    if where:
        try:
            Selector(where)
        except BadSelector as error:
            raise BadOption("--where", str(error)) from None
        return SeedPool(where, where, where)
    if name not in POOLS:
        raise BadOption("--pool", f"no pool {name!r}{did_you_mean(name, POOLS)}; there are {', '.join(POOLS)}")
    return POOLS[name]


def _select(
    paths: list[Path] | None,
    pool: SeedPool,
    out: Path | None,
    seed: int,
    jobs: int,
    unsafe: bool,
    as_json: bool,
    quiet: bool,
) -> int:
    from eqfuzz.commands.seeds.select_seeds import select_seeds
    from eqfuzz.program.pools.seed_files import seed_files
    from eqfuzz.program.shipped import folder

    files = seed_files(paths or [folder("seeds")])
    summary = report(
        lambda handler: select_seeds(files, pool, handler, out=out, seed=seed, jobs=jobs, unsafe=unsafe),
        "seed",
        "read",
        out=out,
        as_json=as_json,
        quiet=quiet,
    )
    return code_of(interrupted=summary.interrupted, findings=False)
