"""Findings, a line each."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from eqfuzz.report.figures import printable
from eqfuzz.report.words import style_of
from eqfuzz.triage.finding import Finding


def print_findings(console: Console, findings: Sequence[Finding], most: int | None = None) -> None:
    """A table; of more than ``most`` the first, and how many are left out."""
    if not findings:
        return
    console.print()
    heading = Text("Findings", style="bold")
    table = Table(title=heading, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("id", no_wrap=True)
    table.add_column("kind", no_wrap=True)
    placed = any(finding.place for finding in findings)
    for column in ("seed", "shown by", "place")[: 2 + placed]:
        table.add_column(column, overflow="fold")
    for finding in findings[:most]:
        by = " + ".join(step.rule for step in finding.derivation) or "the original"
        kind = str(finding.verdict.kind)
        seed = Text(printable(finding.original.name))
        row = Text(finding.id), Text(kind, style=style_of(kind)), seed, Text(by), Text(printable(finding.place))
        table.add_row(*row[: 4 + placed])
    if most is not None and len(findings) > most:
        table.add_row("", "", Text(f"and {len(findings) - most:,} more", style="dim"), "")
    console.print(table)
