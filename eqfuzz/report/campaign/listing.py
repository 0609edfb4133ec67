"""Stored campaigns on the console: a table of all, one in detail."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from eqfuzz.report.formatting import count, duration, named_versions, printable, sparkline
from eqfuzz.report.layout import LabelledTexts, print_text
from eqfuzz.report.tables import plain_table, print_table
from eqfuzz.report.verdict_texts import style_of


def print_campaigns(console: Console, campaigns: Sequence[Mapping[str, Any]]) -> None:
    """One row per campaign, each as ``eqfuzz.campaign.administration.description`` returns it."""
    table = plain_table()
    table.add_column("campaign", no_wrap=True)
    table.add_column("started", no_wrap=True)
    for column in ("epochs", "programs", "cells", "new", "known", "corpus", "CPU"):
        table.add_column(column, justify="right", no_wrap=True)
    for one in campaigns:
        figures = one["figures"]
        table.add_row(
            printable(one["campaign"]) + (" (running)" if one["items"]["claimed"] else ""),
            _date(one["created"])[:10],
            f"{one['settled']:,}",
            f"{figures['programs']:,}",
            f"{figures['cells']:,}",
            Text(f"{figures['buckets']:,}", style="bold red" if figures["buckets"] else ""),
            f"{figures['known']:,}",
            f"{figures['kept']:,}",
            duration(figures["cpu_seconds"]),
        )
    print_table(console, table)


def print_campaign(console: Console, campaign: Mapping[str, Any], curve: Sequence[Mapping[str, Any]]) -> None:
    """Counters, findings, rewards, and the curves of features and lines."""
    figures, items = campaign["figures"], campaign["items"]
    print_text(console, Text.assemble((printable(campaign["campaign"]), "bold"), f"  {_state(campaign)}"))
    rows = [
        ("started", f"{_date(campaign['created'])}, random seed {campaign['seed']}"),
        ("versions", named_versions(campaign["versions"])),
        ("epochs", f"{campaign['settled']} committed, {campaign['planned']} planned; {items['open']} items open"),
        ("programs", f"{figures['programs']:,}, {figures['invalid']:,} of them invalid"),
        (
            "cells",
            f"{figures['cells']:,}, {figures['erased']:,} of them erased, {figures['only_graphs']:,} as graphs only",
        ),
        ("time", f"{duration(figures['cpu_seconds'])} CPU" + _until_committed(figures["seconds"])),
        ("verdicts", "  ".join(f"{kind} {number:,}" for kind, number in figures["verdicts"].items()) or "-"),
        ("features", f"{figures['features']:,}  {sparkline([point['features'] for point in curve])}"),
        ("lines", f"{figures['lines']:,}  {sparkline([point['lines'] for point in curve])}"),
        ("corpus", count(figures["kept"], "program")),
    ]
    console.print(LabelledTexts([(label, Text(text)) for label, text in rows]), crop=False)
    if campaign["yields"]:
        console.print()
        print_table(console, _arms(campaign["yields"]))
    console.print()
    if not campaign["findings"]:
        console.print("no findings")
    for one in campaign["findings"]:
        line = Text.assemble(
            f"{one['bucket']}  {one['id']}  ", (one["kind"], style_of(one["kind"])), f"  {printable(one['seed'])}"
        )
        line.append(f"  {printable(one['fingerprint'])}", "magenta")
        if one["issue"]:
            line.append(f"  known: {one['issue']}", "yellow")
        console.print(line, soft_wrap=True)


def _arms(arms: Sequence[Mapping[str, Any]]) -> Table:
    table = plain_table()
    table.add_column("arm", no_wrap=True)
    for column in ("pulls", "reward", "cost", "reward per cost"):
        table.add_column(column, justify="right", no_wrap=True)
    for arm in sorted(arms, key=lambda arm: (arm["dimension"], -arm["reward"] / arm["cost"] if arm["cost"] else 0.0)):
        share = f"{arm['reward'] / arm['cost']:.2f}" if arm["cost"] else "-"
        name = f"{arm['dimension']}: {arm['name']}"
        table.add_row(name, f"{arm['pulls']:,}", f"{arm['reward']:.1f}", f"{arm['cost']:.1f}", share)
    return table


def _state(campaign: Mapping[str, Any]) -> str:
    leased = campaign["items"]["claimed"]
    return f"{count(leased, 'item')} leased by {', '.join(campaign['workers'])}" if leased else "not running"


def _until_committed(seconds: float) -> str:
    return f", {duration(seconds)} of running up to the last committed epoch" if seconds else ""


def _date(seconds: float) -> str:
    return datetime.datetime.fromtimestamp(seconds).astimezone().strftime("%Y-%m-%d %H:%M")
