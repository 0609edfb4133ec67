"""``eqfuzz rules``: the rule library as a table, and the group of the tools for rules."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
import typer.core

from eqfuzz.cli.exit_codes import USAGE, complain
from eqfuzz.cli.options import OutputFormat
from eqfuzz.program.suggestions import closest

if TYPE_CHECKING:
    from eqfuzz.rewrite.rules.rule import Rule


RulesFrom = Annotated[
    list[Path] | None,
    typer.Option(metavar="PATH", help="Rule file or folder of rule files of your own, beside the shipped; repeatable."),
]


class ListUnlessNamed(typer.core.TyperGroup):
    """``eqfuzz rules 'shapes/*'`` is ``eqfuzz rules list 'shapes/*'``: what names no tool is for the list."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        known = (*self.commands, "-h", "--help")
        mistyped = len(args) > 1 and closest(args[0], self.commands, cutoff=0.7)
        if not args or (args[0] not in known and not mistyped):
            args = ["list", *args]
        return super().parse_args(ctx, args)


rules = typer.Typer(
    cls=ListUnlessNamed,
    help="List, show, check and explain the rewrite rules.\n\nWithout a tool's name: list them.",
)


def known(rules_from: list[Path] | None) -> tuple[Rule, ...]:
    """The shipped rules and the user's; one line on stderr and exit code 2 where a file of theirs is not right."""
    from eqfuzz.rewrite.rules.rule import RuleError
    from eqfuzz.rewrite.rules.user_rules import known_rules

    try:
        return known_rules(rules_from or ())
    except RuleError as error:
        complain(f"--rules-from: {error}")
        raise typer.Exit(USAGE) from None


def chosen(selection: list[str] | None, rules_from: list[Path] | None) -> tuple[Rule, ...]:
    """The rules that the words of ``selection`` name together; exit code 2 with a did-you-mean otherwise."""
    from eqfuzz.rewrite.rules.library import select

    try:
        return select(known(rules_from), ",".join(selection or ()))
    except ValueError as error:
        complain(str(error))
        raise typer.Exit(USAGE) from None


def named(name: str, rules_from: list[Path] | None) -> Rule:
    """The one rule called ``name``; exit code 2 with a did-you-mean otherwise."""
    from eqfuzz.rewrite.rules.library import one

    try:
        return one(known(rules_from), name)
    except ValueError as error:
        complain(str(error))
        raise typer.Exit(USAGE) from None


@rules.command("list")
def list_rules(
    selection: Annotated[
        list[str] | None,
        typer.Argument(metavar="[SELECTION...]", help="Families and names: 'shapes/*,-shapes/flip*' (default: all)."),
    ] = None,
    rules_from: RulesFrom = None,
    format: Annotated[OutputFormat, typer.Option(help="json: one rule per line.")] = OutputFormat.TEXT,
) -> None:
    """List the rules with their exactness and what sets them apart."""
    found = chosen(selection, rules_from)

    from eqfuzz.report.rules.library import print_table, to_fields

    if format is OutputFormat.JSON:
        for rule in found:
            print(json.dumps(to_fields(rule)))
        return

    from eqfuzz.report.run.console import make_console

    print_table(make_console(), found)


@rules.command("show")
def show(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The rule, with or without its family.")],
    rules_from: RulesFrom = None,
    format: Annotated[OutputFormat, typer.Option(help="json: all of it as one object.")] = OutputFormat.TEXT,
) -> None:
    """Show one rule: what it says, when it applies, and what it does to its own example."""
    rule = named(name, rules_from)

    from eqfuzz.report.rules.library import print_page, to_page
    from eqfuzz.rewrite.proof.demonstration import demonstrate

    made = demonstrate(rule)
    if format is OutputFormat.JSON:
        print(json.dumps(to_page(rule, made)))
        return

    from eqfuzz.report.run.console import make_console

    print_page(make_console(), rule, made)
