"""Console report of ``eqfuzz generate llm``: accepted seeds, reasons of rejection, cost."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from eqfuzz.events.event import Event
from eqfuzz.events.llm import (
    CostReported,
    DrySummary,
    PromptShown,
    SampleEnded,
    WritingEnded,
    WritingStarted,
)
from eqfuzz.report.formatting import count, duration, printable
from eqfuzz.report.live_display import LiveRenderer, LiveReport
from eqfuzz.report.progress import ProgressCounter
from eqfuzz.report.tables import plain_table, print_table

WORDS = {
    "empty": "empty response",
    "no-code": "no code in the response",
    "cut-off": "truncated at the limit of tokens",
    "syntax": "not valid Python",
    "too-long": "too long",
    "policy": "forbidden by the policy",
    "format": "no seed format",
    "load": "does not load",
    "raises": "raises in eager",
    "hang": "does not end",
    "crash": "crashes",
    "memory": "needs too much memory",
    "output": "prints too much",
    "undetermined": "differs from itself in eager",
    "no-sites": "nothing to rewrite",
    "duplicate": "a duplicate",
    "no-answer": "no response from the server",
    "budget": "not requested: the budget is spent",
    "broken": "crashed the runner",
}
ENDINGS = {
    "budget": "The budget is spent: the rest may not be enough for another request.",
    "endpoint": "The server does not answer; the same command resumes.",
    "interrupt": "Interrupted: the figures above are partial; the same command resumes.",
}


def dollars(amount: float) -> str:
    """``$0.23``, with more digits where it is less than a cent."""
    return f"${amount:,.2f}" if amount == 0 or amount >= 1 else f"${amount:.4f}"


class WritingReport(LiveReport):
    """Handles the events of ``eqfuzz.generate.llm.writer``; draws while it is open as a context manager."""

    def __init__(self, console: Console, total: int, *, quiet: bool) -> None:
        self._console = console
        self._quiet = quiet
        self._progress = ProgressCounter("requests", total)
        self._renderer = LiveRenderer(console, self._progress)
        self._accepted = 0
        self._dollars = 0.0

    def handle(self, event: Event) -> None:
        """Show one event."""
        match event:
            case WritingStarted() if not self._quiet:
                self._print(_heading(event))
            case SampleEnded():
                self._count(event)
                if not self._quiet:
                    self._print(_sample(event))
            case PromptShown() if not self._quiet:
                self._print(_prompt(event))
            case WritingEnded():
                self._renderer.stop()
                self._close(event)
            case DrySummary():
                self._renderer.stop()
                self._print(_estimate(event))
            case CostReported():
                self._print(_cost(event))
            case _:
                pass

    def _count(self, event: SampleEnded) -> None:
        self._accepted += not event.reason
        self._dollars += sum(one.dollars for one in event.rounds if not one.kept)
        self._progress.note = Text(f"{count(self._accepted, 'seed')}, {dollars(self._dollars)}", style="dim")
        self._progress.advance()

    def _close(self, event: WritingEnded) -> None:
        if not self._quiet and event.asked:
            self._console.print()
            print_table(self._console, _table(event))
        self._print("  ·  ".join(_totals(event)))
        if event.parts and not self._quiet:
            self._print(f"reached {len(event.reached)} of {count(event.parts, 'part')} of the compiler")
        if event.why:
            self._print(Text(ENDINGS[event.why] + (f" ({event.trouble})" if event.trouble else ""), style="yellow"))


def _heading(event: WritingStarted) -> str:
    budget = f"  ·  budget {dollars(event.budget)}" if event.budget is not None else ""
    spent = f", {dollars(event.spent)} spent before" if event.spent else ""
    return (
        f"{count(event.count, 'seed')} requested from {event.model} at {event.endpoint}  ·  "
        f"{', '.join(event.prompts)}{budget}{spent}"
    )


def _sample(event: SampleEnded) -> Text:
    cost = sum(one.dollars for one in event.rounds)
    stored = " stored" if event.rounds and all(one.kept for one in event.rounds) else ""
    part = f" {event.part}" if event.part else ""
    reached = "" if event.reached is None else ", reached" if event.reached else ", not reached"
    if event.reason:
        words = f"{WORDS.get(event.reason, event.reason)}: {printable(event.message)}"
        return Text(f"{event.number:>5}  {event.prompt}{part}  –  {words}", style="dim")
    repaired = f", repaired {count(len(event.rounds) - 1, 'time')}" if len(event.rounds) > 1 else ""
    return Text(f"{event.number:>5}  {event.prompt}{part}  {event.file}{repaired}{reached}  {dollars(cost)}{stored}")


def _prompt(event: PromptShown) -> str:
    part = f" {event.part}" if event.part else ""
    head = (
        f"── {event.number}  {event.prompt}{part}  ·  about {event.input_tokens:,} tokens, {dollars(event.dollars)} "
        f"(at most {dollars(event.at_most)})"
    )
    return "\n".join([head, *(f"[{m['role']}]\n{printable(m['content'])}\n" for m in event.messages)])


def _estimate(event: DrySummary) -> str:
    budget = f"  ·  budget {dollars(event.budget)}" if event.budget is not None else ""
    return (
        f"{count(event.prompts, 'prompt')} for {event.model}  ·  about {event.input_tokens:,} tokens in  ·  "
        f"about {dollars(event.dollars)}, with all repairs at most {dollars(event.at_most)}{budget}  ·  "
        "nothing was sent"
    )


def _table(event: WritingEnded) -> Table:
    table = plain_table("Rejected responses")
    table.add_column("reason", no_wrap=True)
    table.add_column("first response", justify="right")
    table.add_column("in the end", justify="right")
    for reason in sorted({*event.first, *event.failed}, key=lambda r: -event.first.get(r, 0)):
        row = event.first.get(reason, 0), event.failed.get(reason, 0)
        table.add_row(WORDS.get(reason, reason), *(f"{number:,}" if number else "" for number in row))
    return table


def _totals(event: WritingEnded) -> list[str]:
    stored = f", {event.kept:,} of them stored" if event.kept else ""
    lost = f", {dollars(event.lost)} of it possibly without a response" if event.lost else ""
    estimated = f"  ·  {count(event.estimated, 'response')} without usage figures" if event.estimated else ""
    return [
        f"{count(event.accepted, 'seed')} of {event.asked:,} requested ({event.valid_share:.0%} valid, "
        f"{event.repaired:,} repaired)",
        f"{count(event.queries, 'query', 'queries')}{stored}",
        f"{event.input_tokens + event.output_tokens:,} tokens",
        f"{dollars(event.dollars)} ({dollars(event.paid)} now{lost}){estimated}",
        f"in {event.out}/programs",
        duration(event.seconds),
    ]


def _cost(event: CostReported) -> str:
    each = "" if event.findings_per_dollar is None else f", {event.findings_per_dollar:,.1f} per dollar"
    return (
        f"{count(event.queries, 'query', 'queries')}  ·  {event.tokens:,} tokens  ·  {dollars(event.dollars)}  ·  "
        f"{event.valid_share:.0%} valid  ·  {count(event.findings, 'finding')} in "
        f"{count(event.buckets, 'bucket')}{each}"
    )
