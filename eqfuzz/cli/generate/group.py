"""The group ``eqfuzz generate``."""

from __future__ import annotations

import typer

from eqfuzz.cli.generate import catalogues, dag, listing, llm

generate_verbs = typer.Typer(help="Generate seeds at random or by a model.")
generate_verbs.command("dag")(dag.dag)
generate_verbs.command("opinfo")(catalogues.opinfo)
generate_verbs.command("refused")(catalogues.refused)
generate_verbs.command("modules")(catalogues.modules)
generate_verbs.command("optimizers")(catalogues.optimizers)
generate_verbs.command("numpy")(catalogues.numpy)
generate_verbs.command("python")(catalogues.python)
generate_verbs.command("ops")(listing.ops)
generate_verbs.command("templates")(listing.templates)
generate_verbs.command("llm")(llm.llm)
generate_verbs.command("prompts")(listing.prompts)
generate_verbs.command("parts")(listing.parts)
