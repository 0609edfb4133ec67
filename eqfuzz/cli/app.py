"""The application ``eqfuzz``: its verbs, and one line instead of a usage screen for whatever the user got wrong."""

from __future__ import annotations

import io
import sys
from typing import Annotated, Any, NoReturn

import typer
import typer.core

import eqfuzz
from eqfuzz.cli import audit, doctor, mutate, self_check
from eqfuzz.cli.campaign import run as campaign
from eqfuzz.cli.campaign import store as campaign_store
from eqfuzz.cli.config import bisect as config_bisect
from eqfuzz.cli.config import fuzz as config
from eqfuzz.cli.exit_codes import INTERRUPTED, USAGE, complain
from eqfuzz.cli.findings import blame, bucket, issue, known, reduce, replay
from eqfuzz.cli.findings import listing as findings
from eqfuzz.cli.generate import dag as generate
from eqfuzz.cli.rules import check as rules_check
from eqfuzz.cli.rules import explain as rules_explain
from eqfuzz.cli.rules import library as rules
from eqfuzz.cli.rules import survival as rules_survival


class OneLineErrors(typer.core.TyperGroup):
    """Says what is wrong in one line on stderr and exits 2; 130 when interrupted."""

    def main(self, *arguments: Any, **named: Any) -> NoReturn:
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):  # paths and seeds may hold what the terminal cannot show
                stream.reconfigure(errors="backslashreplace")
        try:
            code = super().main(*arguments, **{**named, "standalone_mode": False})
        except (typer.Abort, KeyboardInterrupt):
            complain("interrupted")
            sys.exit(INTERRUPTED)
        except Exception as error:
            # Typer's own usage errors: their class lies in click or in typer, by version, hence by what they can do.
            if not hasattr(error, "format_message"):
                raise
            context = getattr(error, "ctx", None)
            command = context.command_path if context is not None else "eqfuzz"
            message = " ".join(error.format_message().split()).rstrip(".")  # type: ignore[attr-defined]
            complain(f"{message}; see `{command} --help`")
            sys.exit(USAGE)
        sys.exit(code if isinstance(code, int) else 0)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"eqfuzz {eqfuzz.__version__}")
        raise typer.Exit


app = typer.Typer(
    name="eqfuzz",
    cls=OneLineErrors,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # rich help costs a third of the start-up time
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def eqfuzz_command(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """A fuzzer for PyTorch's compiler: one computation written in many equal ways must give one answer.

    Exit codes: 0 nothing found, 1 findings, 2 usage or bad input, 3 internal error, 130 interrupted.
    """


app.command("mutate")(mutate.mutate)
campaign.campaign.command("list")(campaign_store.campaigns)
campaign.campaign.command("show")(campaign_store.show)
campaign.campaign.command("export")(campaign_store.export)
app.add_typer(campaign.campaign, name="campaign")
app.add_typer(campaign_store.corpus, name="corpus")
app.add_typer(generate.generate, name="generate")
app.command("replay")(replay.replay)
app.command("findings")(findings.findings)
app.command("show")(findings.show)
app.command("reduce")(reduce.reduce)
app.command("blame")(blame.blame)
app.command("issue")(issue.issue)
app.add_typer(known.known, name="known")
app.add_typer(bucket.bucket, name="bucket")
app.command("audit")(audit.audit)
config.config.command("bisect")(config_bisect.bisect)
app.add_typer(config.config, name="config")
rules.rules.command("check")(rules_check.check)
rules.rules.command("explain")(rules_explain.explain)
rules.rules.command("survival")(rules_survival.survival)
app.add_typer(rules.rules, name="rules")
app.command("self-check")(self_check.self_check)
app.command("doctor")(doctor.doctor)
