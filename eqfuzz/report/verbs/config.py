"""Sampled configurations for the console: how many, of which options; and a bisection, subset by subset."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from eqfuzz.events.configs import ConfigsSampled
from eqfuzz.report.formatting import count, printable
from eqfuzz.triage.locate.config_bisection import ConfigBisection, ConfigTrial


def print_sampled(console: Console, sampled: ConfigsSampled) -> None:
    """``60 configurations of 151 options; 620 options left out``, and what is known already."""
    left_out = sum(sampled.left_out.values())
    told = f"{count(len(sampled.configs), 'configuration')} of {count(sampled.options, 'option')}"
    console.print(Text(f"{told}; {count(left_out, 'option')} left out"), soft_wrap=True)
    if sampled.judged:
        known = f", {count(len(sampled.known), 'finding')}: {', '.join(sampled.known)}" if sampled.known else ""
        text = f"{count(sampled.judged, 'cell')} judged already{known}; {sampled.cells:,} to go"
        console.print(Text(printable(text), style="dim"), soft_wrap=True)


def print_tried(console: Console, tried: ConfigTrial) -> None:
    """``✓ 3 values show it``."""
    mark, style = ("✓ ", "green") if tried.holds else ("· ", "dim")
    told = f"{count(len(tried.values), 'value')}: {tried.kind}"
    console.print(Text.assemble((mark, style), told), soft_wrap=True)


def print_bisected(console: Console, bisected: ConfigBisection) -> None:
    """A line for each value that counts, and what they do together."""
    for value in bisected.values:
        told = f"{value.module}.{value.option} = {value.value!r}"
        console.print(
            Text.assemble("    ", (printable(told), "bold magenta"), (f"  (torch: {value.default!r})", "dim")),
            soft_wrap=True,
        )
    turn = "turns" if len(bisected.values) == 1 else "turn"
    told = f"{count(len(bisected.values), 'value')} of {bisected.of:,} {turn} {bisected.id} {bisected.turns}"
    console.print(Text(f"{told}: {bisected.kind}", style="bold"), soft_wrap=True)
