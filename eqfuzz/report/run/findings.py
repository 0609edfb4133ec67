"""Findings on the console: listed by bucket, or as a table."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from eqfuzz.report.formatting import count, printable
from eqfuzz.report.tables import needed_width, plain_table, print_table
from eqfuzz.report.verdict_texts import style_of
from eqfuzz.triage.findings.finding import Finding


@dataclasses.dataclass(frozen=True)
class ListedFinding:
    """A finding with its bucket, the number of findings in that, and the URL of its known issue (or empty)."""

    finding: Finding
    bucket: str
    size: int
    issue: str


def print_listed(console: Console, listed: Sequence[ListedFinding]) -> None:
    """One line per bucket, its findings below it."""
    groups = [list(group) for _, group in itertools.groupby(listed, key=lambda one: one.bucket)]
    for group in groups:
        first = group[0]
        if first.bucket:
            text = f"{first.finding.fingerprint}  ({count(first.size, 'finding')})"
            heading = Text.assemble((first.bucket, "bold cyan"), "  ", printable(text))
            if first.issue:
                heading.append(f"  known: {first.issue}", "yellow")
            console.print(heading, soft_wrap=True)
        for one in group:
            finding = one.finding
            by = " + ".join(step.rule for step in finding.derivation) or "the original"
            kind = str(finding.verdict.kind)
            row = Text.assemble(
                "  ", finding.id, "  ", (kind, style_of(kind)), f"  {printable(finding.original.name)}  {by}"
            )
            if not first.bucket and finding.place:
                row.append(f"  {printable(finding.place)}", "magenta")
            console.print(row, soft_wrap=True)


def print_findings(console: Console, findings: Sequence[Finding], most: int | None = None) -> None:
    """A table of at most ``most`` findings, and the number of the others."""
    if not findings:
        return
    console.print()
    first = findings[:most]
    table = _beside(first)
    if needed_width(console, table) > console.width:
        table = _below(first)
    if most is not None and len(findings) > most:
        table.add_row("", "", Text(f"and {len(findings) - most:,} more", style="dim"), *[""] * (len(table.columns) - 3))
    print_table(console, table)


def _beside(findings: Sequence[Finding]) -> Table:
    """What shows a finding stands beside its seed."""
    table = _table(findings, ("seed", "shown by"))
    for finding in findings:
        table.add_row(*_cells(finding, Text(_seed(finding)), Text(_shown_by(finding)), columns=len(table.columns)))
    return table


def _below(findings: Sequence[Finding]) -> Table:
    """What shows a finding stands below its seed: for narrow consoles."""
    table = _table(findings, ("seed, shown by",))
    for finding in findings:
        both = Text.assemble(_seed(finding), "\n", (_shown_by(finding), "dim"))
        table.add_row(*_cells(finding, both, columns=len(table.columns)))
    return table


def _table(findings: Sequence[Finding], middle: Sequence[str]) -> Table:
    table = plain_table("Findings")
    placed = any(finding.place for finding in findings)
    for column in ("id", "kind", *middle, *["place"][: int(placed)]):
        table.add_column(column, no_wrap=column != "place")
    return table


def _cells(finding: Finding, *middle: Text, columns: int) -> list[Text]:
    kind = str(finding.verdict.kind)
    return [Text(finding.id), Text(kind, style=style_of(kind)), *middle, Text(printable(finding.place))][:columns]


def _seed(finding: Finding) -> str:
    return printable(finding.original.name)


def _shown_by(finding: Finding) -> str:
    return "\n+ ".join(step.rule for step in finding.derivation) or "the original"
