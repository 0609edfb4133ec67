"""``eqfuzz campaign list|show|export`` and ``eqfuzz corpus min``: stored campaigns."""

from __future__ import annotations

import contextlib
import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from eqfuzz.cli.exit_codes import CLEAN, INTERNAL, complain
from eqfuzz.cli.options.campaign import CampaignsFolder, CheckDamage, Database, ExportFolder, NamedCampaign
from eqfuzz.cli.options.common import OUT, LinesFormat, ObjectFormat, OutputFormat
from eqfuzz.cli.options.values import BadOption
from eqfuzz.errors import UsageError

if TYPE_CHECKING:
    from eqfuzz.campaign.invocation import InvocationOptions
    from eqfuzz.campaign.store.reader import StoreReader
    from eqfuzz.campaign.store.store import Store


def list_campaigns(out: CampaignsFolder = OUT, db: Database = "", format: LinesFormat = OutputFormat.TEXT) -> None:
    """List the campaigns of a database.

    Exit codes: 0 listed, 2 no such database.
    """
    from eqfuzz.campaign.administration import description
    from eqfuzz.report.campaign.listing import print_campaigns
    from eqfuzz.report.terminal import make_console

    with _open_reader(out, db) as store:
        campaigns = [description(store, campaign) for campaign in store.campaigns()]
    if format is OutputFormat.JSON:
        for campaign in campaigns:
            print(json.dumps(campaign))
    elif campaigns:
        print_campaigns(make_console(), campaigns)
    else:
        print("no campaigns")


def show(
    name: NamedCampaign,
    out: CampaignsFolder = OUT,
    db: Database = "",
    format: ObjectFormat = OutputFormat.TEXT,
    check: CheckDamage = False,
) -> None:
    """Show a campaign: counters, findings, curve.

    The rewards of its arms too.

    Exit codes: 0 shown, 2 no such campaign, 3 --check found damage.
    """
    from eqfuzz.campaign.administration import campaign_named, description
    from eqfuzz.report.campaign.listing import print_campaign
    from eqfuzz.report.terminal import make_console

    with _open_reader(out, db) as store:
        row = campaign_named(store, name)
        campaign, curve = description(store, row), store.curve(row.id)
    problems: list[str] = []
    if check:
        with _open_store(out, db) as store:
            problems = store.problems(row.id)
    if format is OutputFormat.JSON:
        print(json.dumps({**campaign, "curve": curve, **({"problems": problems} if check else {})}))
    else:
        print_campaign(make_console(), campaign, curve)
        if check and not problems:
            print("no damage found")
    for problem in problems:
        complain(f"damage: {problem}")
    raise typer.Exit(INTERNAL if problems else CLEAN)


def export(name: NamedCampaign, folder: ExportFolder, out: CampaignsFolder = OUT, db: Database = "") -> None:
    """Write what a campaign has to a folder.

    That is its corpus, findings and curve. The folder is complete in itself: it needs no database.

    Exit codes: 0 written, 2 no such campaign, or the folder exists already.
    """
    from eqfuzz.campaign.administration import campaign_named, export
    from eqfuzz.report.formatting import count

    with _open_store(out, db) as store:
        written = export(store, campaign_named(store, name), out / name, folder)
    counts = ", ".join(count(number, noun[:-1]) for noun, number in written.items())
    print(f"{folder}: {counts}")


def minimise(
    name: NamedCampaign = "default",
    out: CampaignsFolder = OUT,
    db: Database = "",
    format: ObjectFormat = OutputFormat.TEXT,
) -> None:
    """Minimise the corpus of a campaign.

    It keeps all features.

    Exit codes: 0 done, 2 no such campaign, or it is running.
    """
    from eqfuzz.campaign.administration import campaign_named, shrink_corpus
    from eqfuzz.campaign.worker_id import has_ended

    with _open_store(out, db) as store:
        campaign = campaign_named(store, name)
        running = [worker for worker in store.workers(campaign.id) if not has_ended(worker)]
        if running:
            raise UsageError(f"campaign {name!r} is running ({running[0]}): stop it first")
        shrunk = shrink_corpus(store, campaign)
    if format is OutputFormat.JSON:
        print(json.dumps(dataclasses.asdict(shrunk)))
    else:
        print(
            f"{shrunk.before:,} programs, {shrunk.seconds_before:.1f} CPU-s a round -> "
            f"{shrunk.after:,} programs, {shrunk.seconds_after:.1f} CPU-s; {shrunk.features:,} features as before"
        )


@contextlib.contextmanager
def store_errors() -> Iterator[None]:
    """Raises UsageError for a StoreError inside the block."""
    from eqfuzz.campaign.store.errors import StoreError

    try:
        yield
    except StoreError as error:
        raise UsageError(str(error)) from None


@contextlib.contextmanager
def _open_store(out: Path, db: str) -> Iterator[Store]:
    """The existing store. Raises UsageError for what goes wrong with it, or in using it."""
    from eqfuzz.campaign.invocation import open_store

    with store_errors(), open_store(_existing(out, db)) as store:
        yield store


@contextlib.contextmanager
def _open_reader(out: Path, db: str) -> Iterator[StoreReader]:
    """The same, only to be read."""
    from eqfuzz.campaign.invocation import open_reader

    with store_errors(), open_reader(_existing(out, db)) as reader:
        yield reader


def _existing(out: Path, db: str) -> InvocationOptions:
    """The options of a store that exists already. Raises BadOption."""
    from eqfuzz.campaign.invocation import STORE_FILE, InvocationOptions

    if not db and not (out / STORE_FILE).is_file():
        raise BadOption("--out", f"no campaigns in {out} ({STORE_FILE} is not there)")
    file = db.removeprefix("sqlite:///")
    if file not in ("", db) and not Path(file).is_file():  # SQLite would create it
        raise BadOption("--db", f"no campaigns in {file}: no such file")
    return InvocationOptions(name="", out=out, url=db)
