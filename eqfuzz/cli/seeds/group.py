"""The group ``eqfuzz seeds``."""

from __future__ import annotations

import typer

from eqfuzz.cli.seeds import checking, importing, listing, selecting

seeds_verbs = typer.Typer(help="Import, list, check and select seeds.")
seeds_verbs.command("import")(importing.import_models)
seeds_verbs.command("list")(listing.list_seeds)
seeds_verbs.command("check")(checking.check)
seeds_verbs.command("select")(selecting.select)
