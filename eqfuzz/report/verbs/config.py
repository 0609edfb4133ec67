"""Sampled configurations and bisections of options on the console."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from eqfuzz.events.configs import ConfigsSampled
from eqfuzz.report.formatting import count, printable

if TYPE_CHECKING:  # it needs torch, which a report of sampled configurations does not
    from eqfuzz.triage.locate.config_bisection import ConfigBisection, ConfigTrial


def print_sampled(console: Console, sampled: ConfigsSampled) -> None:
    """``60 configurations of 151 options; 620 options left out``, and the results of earlier runs."""
    left_out = sum(sampled.left_out.values())
    configs = f"{count(len(sampled.configs), 'configuration')} of {count(sampled.options, 'option')}"
    console.print(Text(f"{configs}; {count(left_out, 'option')} left out"), soft_wrap=True)
    if sampled.judged:
        findings = f", {count(len(sampled.known), 'finding')}: {', '.join(sampled.known)}" if sampled.known else ""
        text = f"{count(sampled.judged, 'cell')} judged already{findings}; {sampled.cells:,} to go"
        console.print(Text(printable(text), style="dim"), soft_wrap=True)


def print_tried(console: Console, tried: ConfigTrial) -> None:
    """``✓ 3 values: wrong-result``."""
    mark, style = ("✓ ", "green") if tried.holds else ("· ", "dim")
    outcome = f"{count(len(tried.values), 'value')}: {tried.kind}"
    console.print(Text.assemble((mark, style), outcome), soft_wrap=True)


def print_bisected(console: Console, bisected: ConfigBisection) -> None:
    """One line per value that is needed, and their effect."""
    for value in bisected.values:
        option = f"{value.module}.{value.option} = {value.value!r}"
        console.print(
            Text.assemble("    ", (printable(option), "bold magenta"), (f"  (torch: {value.default!r})", "dim")),
            soft_wrap=True,
        )
    turn = "turns" if len(bisected.values) == 1 else "turn"
    text = f"{count(len(bisected.values), 'value')} of {bisected.of:,} {turn} {bisected.id} {bisected.turns}"
    console.print(Text(f"{text}: {bisected.kind}", style="bold"), soft_wrap=True)
