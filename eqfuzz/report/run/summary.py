"""The end of a run: rules applied, verdicts, totals, why seeds are invalid, where the findings are."""

from __future__ import annotations

import collections
import shlex
from collections.abc import Mapping, Sequence
from pathlib import PurePath

from rich.console import Console
from rich.table import Table
from rich.text import Text

from eqfuzz.events.run import CellJudged, FindingReported, RuleTally, Summary
from eqfuzz.mutate.outcomes import SeedOutcome
from eqfuzz.oracle.compare.verdict import VerdictKind
from eqfuzz.report.formatting import count, duration, printable, rate
from eqfuzz.report.layout import print_text
from eqfuzz.report.run.findings import print_findings
from eqfuzz.report.run.invalid_seeds import reason_lines
from eqfuzz.report.tables import plain_table, print_table
from eqfuzz.report.verdict_texts import MEANING, in_parentheses, style_of

RULES_SHOWN = 20
NOTABLE_SHOWN = 10
FINDINGS_SHOWN = 40
ERRORS_SHOWN = 10

DEFAULT_OUT = "eqfuzz-out"
"""Where other verbs look for findings if ``--out`` is not given."""


def print_summary(
    console: Console,
    summary: Summary,
    findings: Sequence[FindingReported],
    notable: Sequence[CellJudged],
    out: str,
) -> None:
    """All tables; ``notable`` are cells that are no finding but need a look, ``out`` is the folder of the run."""
    if summary.rules:
        console.print()
        print_table(console, _rules(summary.rules, judged=summary.cells > 0))
    if summary.verdicts:
        console.print()
        print_table(console, _verdicts(summary.verdicts, meanings=console.width >= 100))
    _print_notable(console, notable)
    new = sorted((event.finding for event in findings if not event.issue), key=lambda finding: finding.severity.rank)
    print_findings(console, new, FINDINGS_SHOWN)
    print_totals(console, summary, out)
    if new:
        _print_next_steps(console, new[0].id, out)


def print_totals(console: Console, summary: Summary, out: str) -> None:
    """The last lines of every run, ``--quiet`` or not."""
    dot = Text.assemble(("  ·  ", "dim"))
    valid = summary.seeds - summary.invalid
    seeds = count(summary.seeds, "seed") + (f" ({valid:,} valid)" if summary.invalid else "")
    amounts = (
        seeds,
        count(summary.sites, "site"),
        count(summary.variants, "variant"),
        count(summary.cells, "compiled cell") + (f" ({summary.erased:,} erased)" if summary.erased else ""),
        *((f"{summary.only_graphs:,} of them as graphs only",) if summary.only_graphs else ()),
    )
    costs = (
        f"{duration(summary.seconds)} wall",
        f"{duration(summary.cpu_seconds)} CPU",
        *((f"{summary.peak_mb:,} MiB at most",) if summary.peak_mb else ()),
        rate(summary.cells, summary.seconds),
        f"random seed {summary.seed}",
    )
    console.print()
    outcomes = outcome_counts(summary.outcomes) if summary.cells or summary.findings else []
    for line in (amounts, graph_counts(summary.compiled), costs, outcomes):
        if line:
            print_text(console, dot.join(Text(word) for word in line))
    if summary.interrupted:
        console.print(Text("Interrupted: the figures above are partial.", style="bold yellow"))
    if summary.out_of_time:
        console.print(Text("Out of time: a longer --time completes the rest.", style="bold yellow"))
    if summary.left_out:
        console.print(Text(printable(_left_out(summary.left_out)), style="yellow"), soft_wrap=True)
    if summary.invalid:
        are = "is" if summary.invalid == 1 else "are"
        heading = f"{summary.invalid:,} of {count(summary.seeds, 'seed')} {are} invalid (--format json names each):"
        for line in (heading, *(f"  {reason}" for reason in reason_lines(summary.invalid_reasons))):
            console.print(Text(line, style="bold yellow"), soft_wrap=True)
    if summary.flaky:
        causes = ", ".join(f"{cause} {number:,}" for cause, number in summary.flaky.items())
        console.print(Text(printable(f"flaky cells by cause: {causes}"), style="yellow"), soft_wrap=True)
    for error in summary.errors[:ERRORS_SHOWN]:
        console.print(Text(printable(f"internal error: {error}"), style="bold red"), soft_wrap=True)
    if summary.errors:
        errors = count(len(summary.errors), "internal error")
        console.print(Text(f"{errors}: the figures above are not complete.", style="bold red"))
    for line in summary.gone:
        console.print(Text(f"no longer reproduces: {line}", style="bold yellow"), soft_wrap=True)
    if summary.known:
        findings = count(summary.known, "finding")
        console.print(Text(f"{findings} of known issues (eqfuzz known list)", style="yellow"), soft_wrap=True)
    if summary.findings:
        new = f"{count(summary.findings, 'finding')} in {count(summary.buckets, 'bucket')}"
        new += in_parentheses(summary.severities)
        console.print(Text.assemble((new, "bold red"), " in ", (f"{out}/findings", "bold")), soft_wrap=True)
    elif summary.cells:
        text = "No findings." if not summary.known else "No new findings."
        console.print(Text(text, style="bold yellow" if summary.errors else "bold green"))
    else:
        console.print(Text("Nothing was compiled.", style="bold yellow"))


def _left_out(seeds: Sequence[str]) -> str:
    """Number of seeds that were not completed, in all and by folder."""
    folders = collections.Counter(PurePath(seed).parent.name for seed in seeds)
    by_folder = ", ".join(f"{folder or 'here'} {number:,}" for folder, number in sorted(folders.items()))
    return f"{count(len(seeds), 'seed')} not completed (--format json names each): {by_folder}"


def _print_next_steps(console: Console, finding: str, out: str) -> None:
    """What to do with a finding, as commands."""
    option = "" if out == DEFAULT_OUT else f" --out {shlex.quote(out)}"
    steps = (
        ("show", "the report, the program and the script"),
        ("reduce", "a smaller program with the same defect"),
        ("issue", "a report for PyTorch's tracker"),
    )
    commands = [(f"eqfuzz {verb} {finding}{option}", purpose) for verb, purpose in steps]
    width = max(len(command) for command, _ in commands)
    console.print()
    for command, purpose in commands:
        console.print(Text.assemble(command.ljust(width), (f"  # {purpose}", "dim")), soft_wrap=True)


def graph_counts(compiled: Mapping[str, int]) -> list[str]:
    """``31 graphs (12 with unbacked symbols)`` and what else Dynamo counted; nothing where it compiled nothing."""
    if not any(compiled.values()):
        return []
    unbacked = compiled.get("unbacked_graphs", 0)
    return [
        count(compiled.get("graphs", 0), "graph") + (f" ({unbacked:,} with unbacked symbols)" if unbacked else ""),
        count(compiled.get("graph_breaks", 0), "graph break"),
        count(compiled.get("recompiles", 0), "recompilation"),
    ]


def outcome_counts(outcomes: Mapping[str, int]) -> list[str]:
    """``ok 18``, ``failed 1``, ``ignored 0``, then other outcomes that there are; nothing without seeds."""
    always = (SeedOutcome.OK, SeedOutcome.FAILED, SeedOutcome.IGNORED)
    names = [*always, *(outcome for outcome in SeedOutcome if outcome not in always and outcomes.get(outcome))]
    return [f"{name} {outcomes.get(name, 0):,}" for name in names] if outcomes else []


def _rules(rules: dict[str, RuleTally], judged: bool) -> Table:
    """Rules with something else than agreement first, then by number of variants."""

    def rank(item: tuple[str, RuleTally]) -> tuple[int, int, str]:
        name, tally = item
        return -sum(_other(tally).values()), -tally.variants, name

    ordered = sorted(rules.items(), key=rank)
    rows = [(Text(name), tally) for name, tally in ordered[:RULES_SHOWN]]
    rest = [tally for _, tally in ordered[RULES_SHOWN:]]
    if rest:
        rows.append((Text(count(len(rest), "more rule"), style="dim"), _together(rest)))
    table = plain_table("Rules applied", f"{len(rules):,}")
    table.add_column("rule", no_wrap=True)
    table.add_column("variants", justify="right", no_wrap=True)
    if judged:
        table.add_column("agree", justify="right", no_wrap=True, style="green")
        table.add_column("other verdicts", overflow="fold")
    for name, tally in rows:
        verdicts = (f"{tally.verdicts.get(VerdictKind.AGREE, 0):,}", _in_colour(_other(tally))) if judged else ()
        table.add_row(name, f"{tally.variants:,}", *verdicts)
    return table


def _in_colour(verdicts: dict[str, int]) -> Text:
    return Text(", ").join(Text(f"{kind} {number:,}", style=style_of(kind)) for kind, number in verdicts.items())


def _other(tally: RuleTally) -> dict[str, int]:
    return {kind: number for kind, number in tally.verdicts.items() if kind != VerdictKind.AGREE}


def _together(tallies: Sequence[RuleTally]) -> RuleTally:
    verdicts: dict[str, int] = {}
    for tally in tallies:
        for kind, number in tally.verdicts.items():
            verdicts[kind] = verdicts.get(kind, 0) + number
    return RuleTally(variants=sum(tally.variants for tally in tallies), verdicts=verdicts)


def _verdicts(verdicts: dict[str, int], meanings: bool) -> Table:
    table = plain_table("Verdicts")
    table.add_column("kind", no_wrap=True)
    table.add_column("count", justify="right", no_wrap=True)
    if meanings:
        table.add_column("meaning", style="dim")
    for kind in VerdictKind:
        if verdicts.get(kind):
            row = [Text(kind, style=style_of(kind)), f"{verdicts[kind]:,}"]
            table.add_row(*row, *([MEANING[kind]] if meanings else []))
    return table


def _print_notable(console: Console, notable: Sequence[CellJudged]) -> None:
    if not notable:
        return
    console.print()
    console.print(Text("No findings, but need a look:", style="bold"))
    for cell in sorted(notable, key=lambda c: (c.index, c.variant))[:NOTABLE_SHOWN]:
        console.print(Text(f"  {notable_line(cell)}", style="yellow"), soft_wrap=True)
    if len(notable) > NOTABLE_SHOWN:
        console.print(Text(f"  and {len(notable) - NOTABLE_SHOWN:,} more (--format json lists all)", style="dim"))


def notable_line(cell: CellJudged) -> str:
    """``flaky seeds/a.py: rules, config on device: message``."""
    how = " + ".join(cell.rules) or "the original"
    where = f", {cell.config} on {cell.device}" if cell.config else ""
    return printable(f"{cell.verdict.kind} {cell.seed}: {how}{where}: {cell.verdict.in_words}").replace("\n", " ")
