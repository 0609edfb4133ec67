"""The group ``eqfuzz rules``."""

from __future__ import annotations

from typing import Any

import typer
import typer.core

from eqfuzz.cli.rules import check, explain, listing, survival
from eqfuzz.program.suggestions import closest


class ListUnlessNamed(typer.core.TyperGroup):
    """``eqfuzz rules 'shapes/*'`` is ``eqfuzz rules list 'shapes/*'``: what is no verb is a selection to list."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        words = (*self.commands, "-h", "--help")
        mistyped = len(args) > 1 and closest(args[0], self.commands, cutoff=0.7)
        is_listing = not args or (args[0] not in words and not mistyped)
        if is_listing and not ctx.resilient_parsing:  # which a shell asks for that completes the verb
            args = ["list", *args]
        return super().parse_args(ctx, args)


rules_verbs = typer.Typer(
    cls=ListUnlessNamed,
    help="List, show, check and explain rewrite rules.\n\nWithout a verb: list them.",
)
rules_verbs.command("list")(listing.list_rules)
rules_verbs.command("show")(listing.show)
rules_verbs.command("check")(check.check)
rules_verbs.command("explain")(explain.explain)
rules_verbs.command("survival")(survival.survival)
