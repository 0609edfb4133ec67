"""``eqfuzz seeds check``: find files that are no seeds."""

from __future__ import annotations

from pathlib import Path

import typer

from eqfuzz.cli.exit_handling import exit_code_of_long_run
from eqfuzz.cli.options.common import EventFormat, Jobs, OptionalSeedPaths, OutputFormat, Quiet, RandomSeed, Unsafe
from eqfuzz.cli.options.values import job_count
from eqfuzz.cli.seeds.reporting import exit_code_of, report


def check(
    paths: OptionalSeedPaths = None,
    seed: RandomSeed = 0,
    jobs: Jobs = None,
    unsafe: Unsafe = False,
    format: EventFormat = OutputFormat.TEXT,
    quiet: Quiet = False,
) -> None:
    """Check that files are seeds.

    Each is loaded and run twice in eager, which must do the same both times. Nothing is compiled.

    Exit codes: 0 all are seeds, 2 usage or a file that is none, 3 internal error, 130 interrupted.
    """
    raise typer.Exit(
        exit_code_of_long_run(
            lambda: _check(paths, seed, job_count(jobs), unsafe, format is OutputFormat.JSON, quiet),
            stopped="not all seeds were checked",
        )
    )


def _check(paths: list[Path] | None, seed: int, jobs: int, unsafe: bool, as_json: bool, quiet: bool) -> int:
    from eqfuzz.commands.seeds.check_seeds import check_seeds
    from eqfuzz.program.pools.seed_files import seed_files
    from eqfuzz.program.shipped import folder

    files = seed_files(paths or [folder("seeds")])
    return exit_code_of(
        report(
            lambda handler: check_seeds(files, handler, seed=seed, jobs=jobs, unsafe=unsafe),
            "seed",
            "checked",
            as_json=as_json,
            quiet=quiet,
        )
    )
