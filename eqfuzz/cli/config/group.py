"""The group ``eqfuzz config``."""

from __future__ import annotations

import typer

from eqfuzz.cli.config import bisect, listing, sampling
from eqfuzz.errors import UsageError

config_verbs = typer.Typer(help="Run seeds under sampled configurations.")


@config_verbs.callback()
def require_sampler(context: typer.Context) -> None:
    """Raises UsageError where torch cannot sample configurations and the verb needs that."""
    if context.invoked_subcommand == "list":
        return
    from eqfuzz.torch_internals.source_tree import FUZZER, torch_folder

    if not (torch_folder() / FUZZER).is_file():
        raise UsageError("this torch cannot sample configurations: eqfuzz config needs torch 2.7 or newer")


config_verbs.command("list")(listing.list_configs)
config_verbs.command("tuples")(sampling.tuples)
config_verbs.command("random")(sampling.random)
config_verbs.command("bisect")(bisect.bisect)
