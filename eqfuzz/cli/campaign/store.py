"""``eqfuzz campaign list|show|export`` and ``eqfuzz corpus min``: campaigns at rest."""

from __future__ import annotations

import contextlib
import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eqfuzz.cli.campaign.run import OUT, Db, Out
from eqfuzz.cli.exit_codes import USAGE, complain
from eqfuzz.cli.options import OutputFormat

if TYPE_CHECKING:
    from eqfuzz.campaign.store.store import Store

corpus = typer.Typer(
    help="The programs that a campaign keeps because they reached something first.", no_args_is_help=True
)

Name = Annotated[str, typer.Argument(metavar="NAME", help="The campaign's name.")]


def campaigns(
    out: Out = OUT,
    db: Db = "",
    format: Annotated[OutputFormat, typer.Option(help="json: one campaign per line.")] = OutputFormat.TEXT,
) -> None:
    """List the campaigns of a store.

    Exit codes: 0 listed, 2 no such store.
    """
    from eqfuzz.campaign.administration import description
    from eqfuzz.report.campaign.listing import print_campaigns
    from eqfuzz.report.run.console import make_console

    with _opened(out, db) as store:
        told = [description(store, campaign) for campaign in store.campaigns()]
    if format is OutputFormat.JSON:
        for one in told:
            print(json.dumps(one))
    elif told:
        print_campaigns(make_console(), told)
    else:
        print("no campaigns")


def show(
    name: Name,
    out: Out = OUT,
    db: Db = "",
    format: Annotated[OutputFormat, typer.Option(help="json: one object.")] = OutputFormat.TEXT,
    check: Annotated[bool, typer.Option("--check", help="Look for damage: the database, programs missing.")] = False,
) -> None:
    """Show a campaign as it stands: its figures, findings, yields and curve.

    Exit codes: 0 shown, 2 no such campaign, 3 --check found damage.
    """
    from eqfuzz.campaign.administration import campaign_named, description
    from eqfuzz.report.campaign.listing import print_campaign
    from eqfuzz.report.run.console import make_console

    with _opened(out, db) as store:
        campaign = campaign_named(store, name)
        told, curve = description(store, campaign), store.curve(campaign.id)
        problems = store.problems(campaign.id) if check else []
    if format is OutputFormat.JSON:
        print(json.dumps({**told, "curve": curve, **({"problems": problems} if check else {})}))
    else:
        print_campaign(make_console(), told, curve)
        if check and not problems:
            print("no damage found")
    for problem in problems:
        complain(f"damage: {problem}")
    if problems:
        raise typer.Exit(3)


def export(
    name: Name,
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="A folder that is not there yet.")],
    out: Out = OUT,
    db: Db = "",
) -> None:
    """Write a campaign's corpus, findings, outcomes and curve into a folder that stands alone.

    Exit codes: 0 written, 2 no such campaign, or the folder is there already.
    """
    from eqfuzz.campaign.administration import campaign_named, export
    from eqfuzz.report.formatting import count

    with _opened(out, db) as store:
        written = export(store, campaign_named(store, name), out / name, folder)
    told = ", ".join(count(number, noun[:-1]) for noun, number in written.items())
    print(f"{folder}: {told}")


@corpus.command("min")
def minimise(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The campaign's name.")] = "default",
    out: Out = OUT,
    db: Db = "",
    format: Annotated[OutputFormat, typer.Option(help="json: one object.")] = OutputFormat.TEXT,
) -> None:
    """Keep the smallest set of a campaign's corpus that reaches the same.

    Exit codes: 0 done, 2 no such campaign, or it is running.
    """
    from eqfuzz.campaign.administration import campaign_named, shrink_corpus
    from eqfuzz.campaign.worker_id import has_ended

    with _opened(out, db) as store:
        campaign = campaign_named(store, name)
        running = [worker for worker in store.items.workers(campaign.id) if not has_ended(worker)]
        if running:
            complain(f"campaign {name!r} is running ({running[0]}): stop it first")
            raise typer.Exit(USAGE)
        shrunk = shrink_corpus(store, campaign)
    if format is OutputFormat.JSON:
        print(json.dumps(dataclasses.asdict(shrunk)))
    else:
        print(
            f"{shrunk.before:,} programs, {shrunk.seconds_before:.1f} CPU-s a round -> "
            f"{shrunk.after:,} programs, {shrunk.seconds_after:.1f} CPU-s; {shrunk.features:,} features as before"
        )


@contextlib.contextmanager
def _opened(out: Path, db: str) -> Iterator[Store]:
    """The store that is there already; what goes wrong with it, or in using it, is one line."""
    from eqfuzz.campaign.setup import STORE_FILE, InvocationOptions, open_store
    from eqfuzz.campaign.store.store import StoreError
    from eqfuzz.errors import UsageError

    if not db and not (out / STORE_FILE).is_file():
        complain(f"--out: no campaigns in {out} ({STORE_FILE} is not there)")
        raise typer.Exit(USAGE)
    try:
        with open_store(InvocationOptions(name="", out=out, url=db)) as store:
            yield store
    except (UsageError, StoreError) as error:
        complain(str(error))
        raise typer.Exit(USAGE) from None
