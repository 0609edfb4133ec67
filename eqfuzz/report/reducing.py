"""A reduction for the console: a line for each subset tried, the smaller finding at the end."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from eqfuzz.campaign.events import FindingMade
from eqfuzz.campaign.reducing import Tried
from eqfuzz.report.figures import count
from eqfuzz.report.panel import print_finding
from eqfuzz.triage.finding import Finding


def print_tried(console: Console, tried: Tried) -> None:
    """``✓ 3 rewrites show it``."""
    mark, style = ("✓ ", "green") if tried.holds else ("· ", "dim")
    told = "show it" if tried.holds else "do not"
    console.print(Text.assemble((mark, style), f"{count(tried.steps, 'rewrite')} {told}"), soft_wrap=True)


def print_reduced(console: Console, before: Finding, after: Finding, folder: str, out: str) -> None:
    """The smaller finding as a panel, and how much smaller it is."""
    print_finding(console, FindingMade(0, after, folder, known=False), out)
    told = f"{count(len(before.derivation), 'rewrite')} of {before.id} reduced to {len(after.derivation)}: {after.id}"
    console.print(Text(told, style="bold"), soft_wrap=True)
