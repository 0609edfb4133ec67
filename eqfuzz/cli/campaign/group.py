"""The groups ``eqfuzz campaign`` and ``eqfuzz corpus``."""

from __future__ import annotations

import typer

from eqfuzz.cli.campaign import run, store

campaign_verbs = typer.Typer(invoke_without_command=True)
campaign_verbs.callback()(run.run)
campaign_verbs.command("list")(store.list_campaigns)
campaign_verbs.command("show")(store.show)
campaign_verbs.command("export")(store.export)

corpus_verbs = typer.Typer(help="Maintain the corpus that a campaign keeps.", no_args_is_help=True)
corpus_verbs.command("min")(store.minimise)
