"""``eqfuzz rules explain``: where a rule applies in a seed, and why not elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eqfuzz.cli.exit_codes import CLEAN, INTERNAL, USAGE, complain
from eqfuzz.cli.exit_handling import ended
from eqfuzz.cli.options import OutputFormat
from eqfuzz.cli.rules.library import RulesFrom, named

if TYPE_CHECKING:
    from eqfuzz.rewrite.rules.rule import Rule


def explain(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The rule, with or without its family.")],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A seed file.")],
    rules_from: RulesFrom = None,
    seed: Annotated[int, typer.Option(help="Decides the seed's inputs, as in mutate.")] = 0,
    format: Annotated[
        OutputFormat, typer.Option(help="json: one match or near miss per line, the summary last.")
    ] = OutputFormat.TEXT,
) -> None:
    """Say where a rule applies in a seed, and why not elsewhere.

    The seed runs in eager, in a process with limits; nothing is compiled.

    Exit codes: 0 explained, 2 usage or invalid seed, 3 internal error, 130 interrupted.
    """
    rule = named(name, rules_from)
    if not file.is_file():
        complain(f"{file}: no such file")
        raise typer.Exit(USAGE)
    raise typer.Exit(
        ended(
            lambda: _explain(rule, file, seed, tuple(rules_from or ()), as_json=format is OutputFormat.JSON),
            stopped="not all was told",
        )
    )


def _explain(rule: Rule, file: Path, seed: int, rules_from: tuple[Path, ...], *, as_json: bool) -> int:
    from eqfuzz.commands.explain_rule import explain as study
    from eqfuzz.mutate.seed_run import InternalError
    from eqfuzz.program.program import InvalidSeed
    from eqfuzz.report.rules.explain import print_explained, to_lines
    from eqfuzz.report.run.console import make_console
    from eqfuzz.run.protocol import RunnerFailed

    try:
        explained = study(rule, file, seed=seed, rules_from=rules_from)
    except InvalidSeed as error:
        complain(str(error))
        return USAGE
    except RunnerFailed as error:
        complain(f"no process that runs programs could be started: {error}; `eqfuzz doctor` tells what is missing")
        return USAGE
    except InternalError as error:
        complain(f"internal error: {error}")
        return INTERNAL
    if as_json:
        for line in to_lines(explained):
            print(line)
    else:
        print_explained(make_console(), explained)
    return CLEAN
