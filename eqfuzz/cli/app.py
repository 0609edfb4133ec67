"""The application ``eqfuzz``: all verbs, behind one error boundary."""

from __future__ import annotations

import io
import sys
from typing import Annotated, Any, NoReturn

import typer
import typer.core

import eqfuzz
from eqfuzz.cli import audit, check, compare, coverage, diff, doctor, mutate, record, report, self_check, speed
from eqfuzz.cli.campaign.group import campaign_verbs, corpus_verbs
from eqfuzz.cli.config.group import config_verbs
from eqfuzz.cli.exit_codes import CLEAN, INTERRUPTED, USAGE, complain
from eqfuzz.cli.exit_handling import exit_code_of
from eqfuzz.cli.findings import blame, bucket, issue, known, listing, reduce, replay
from eqfuzz.cli.generate.group import generate_verbs
from eqfuzz.cli.rules.group import rules_verbs
from eqfuzz.cli.seeds.group import seeds_verbs


class GuardedGroup(typer.core.TyperGroup):
    """Turns every exception of a verb into one line on stderr and an exit code; 2 for a wrong command line."""

    def main(self, *arguments: Any, **options: Any) -> NoReturn:
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):  # paths and seeds may hold what the terminal cannot show
                stream.reconfigure(errors="backslashreplace")
        try:
            code = super().main(*arguments, **{**options, "standalone_mode": False})
        except (typer.Abort, KeyboardInterrupt):
            complain("interrupted")
            sys.exit(INTERRUPTED)
        except Exception as error:
            if not _is_usage_error(error):
                raise
            sys.exit(_usage_error(error))
        sys.exit(code if isinstance(code, int) else CLEAN)

    def invoke(self, ctx: Any) -> int:
        """The exit code of the verb. Typer would end a closed pipe with 1, which means findings here."""
        return exit_code_of(lambda: self._code_of_verb(ctx))

    def _code_of_verb(self, ctx: Any) -> int:
        try:
            super().invoke(ctx)
        except typer.Exit as end:
            return end.exit_code
        except typer.Abort:
            raise KeyboardInterrupt from None
        except Exception as error:
            if not _is_usage_error(error):
                raise
            return _usage_error(error)
        return CLEAN


def _is_usage_error(error: Exception) -> bool:
    """Whether Typer raised it. The class lies in click or in typer, by version, hence by what it can do."""
    return hasattr(error, "format_message")


def _usage_error(error: Any) -> int:
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "eqfuzz"
    message = " ".join(error.format_message().split()).rstrip(".").replace(": Value error, ", ": ")  # pydantic's words
    complain(f"{message}; see `{command} --help`")
    return USAGE


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"eqfuzz {eqfuzz.__version__}")
        raise typer.Exit


app = typer.Typer(
    name="eqfuzz",
    cls=GuardedGroup,
    add_completion=True,
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
    """Fuzz PyTorch's compiler with equivalent programs: all ways to write one computation must give one result.

    Exit codes: 0 nothing found, 1 findings, 2 usage or bad input, 3 internal error, 130 interrupted.
    """


app.command("mutate")(mutate.mutate)
app.command("check")(check.check)
app.command("record")(record.record)
app.command("replay")(replay.replay)
app.command("findings")(listing.findings)
app.command("show")(listing.show)
app.command("reduce")(reduce.reduce)
app.command("blame")(blame.blame)
app.command("report")(report.report)
app.command("issue")(issue.issue)
app.command("audit")(audit.audit)
app.command("speed")(speed.speed)
app.command("coverage")(coverage.coverage)
app.command("compare")(compare.compare)
app.command("diff")(diff.diff)
app.command("self-check")(self_check.self_check)
app.command("doctor")(doctor.doctor)
app.add_typer(campaign_verbs, name="campaign")
app.add_typer(corpus_verbs, name="corpus")
app.add_typer(generate_verbs, name="generate")
app.add_typer(seeds_verbs, name="seeds")
app.add_typer(known.known_verbs, name="known")
app.add_typer(bucket.bucket_verbs, name="bucket")
app.add_typer(config_verbs, name="config")
app.add_typer(rules_verbs, name="rules")
