"""``eqfuzz rules explain``: where a rule applies in a seed, and why not elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from eqfuzz.cli.exit_codes import CLEAN
from eqfuzz.cli.exit_handling import exit_code_of_long_run
from eqfuzz.cli.options.common import EventFormat, OutputFormat, RandomSeed
from eqfuzz.cli.options.rewriting import RuleName, RulesFrom, SeedFile
from eqfuzz.cli.rules.selection import named_rule
from eqfuzz.errors import UsageError

if TYPE_CHECKING:
    from eqfuzz.rewrite.rules.rule import Rule


def explain(
    name: RuleName,
    file: SeedFile,
    rules_from: RulesFrom = None,
    seed: RandomSeed = 0,
    format: EventFormat = OutputFormat.TEXT,
) -> None:
    """Explain where a rule applies in a seed.

    And why not elsewhere. The seed runs in eager, in a process with limits; nothing is compiled.

    Exit codes: 0 explained, 2 usage or invalid seed, 3 internal error, 130 interrupted.
    """
    rule = named_rule(name, rules_from)
    if not file.is_file():
        raise UsageError(f"{file}: no such file")
    raise typer.Exit(
        exit_code_of_long_run(
            lambda: _explain(rule, file, seed, tuple(rules_from or ()), as_json=format is OutputFormat.JSON),
            stopped="the explanation is not complete",
        )
    )


def _explain(rule: Rule, file: Path, seed: int, rules_from: tuple[Path, ...], *, as_json: bool) -> int:
    from eqfuzz.commands.explain_rule import explain as explain_rule
    from eqfuzz.program.program import InvalidSeed
    from eqfuzz.report.rules.explain import print_explained, to_lines
    from eqfuzz.report.terminal import make_console

    try:
        explanation = explain_rule(rule, file, seed=seed, rules_from=rules_from)
    except InvalidSeed as error:
        raise UsageError(str(error)) from None
    if as_json:
        for line in to_lines(explanation):
            print(line)
    else:
        print_explained(make_console(), explanation)
    return CLEAN
