"""Console report of ``eqfuzz diff``: what differs between two torches, bucket by bucket."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from eqfuzz.events.event import Event
from eqfuzz.events.regressions import BucketCompared, BucketState, DiffStarted, DiffSummary, ProgramCompared
from eqfuzz.report.formatting import count, duration, named_versions, printable
from eqfuzz.report.live_display import LiveRenderer, LiveReport
from eqfuzz.report.progress import ProgressCounter
from eqfuzz.report.tables import plain_table, print_table
from eqfuzz.report.verdict_texts import style_of

STYLES = {
    BucketState.NEW: "bold red",
    BucketState.FIXED: "bold green",
    BucketState.STILL: "yellow",
    BucketState.UNCLEAR: "dim",
}
PROGRAMS_SHOWN = 5


class DiffReport(LiveReport):
    """Handles the events of a comparison; draws while it is open as a context manager. ``quiet``: new buckets only."""

    def __init__(self, console: Console, *, quiet: bool = False) -> None:
        self._console = console
        self._quiet = quiet
        self._progress = ProgressCounter("programs")
        self._renderer = LiveRenderer(console, self._progress)
        self._buckets: list[BucketCompared] = []

    def handle(self, event: Event) -> None:
        """Count and show one event. Not to be called by two threads at once."""
        match event:
            case DiffStarted():
                self._start(event)
            case ProgramCompared():
                self._progress.advance()
            case BucketCompared():
                self._buckets.append(event)
                if event.is_new or not self._quiet:
                    self._print(_line(event))
            case DiffSummary():
                self._renderer.stop()
                self._close(event)
            case _:
                pass

    def _start(self, event: DiffStarted) -> None:
        self._progress.begin(event.seeds + event.scripts)
        if self._quiet:
            return
        self._print(Text(named_versions(event.versions), "dim"))
        programs = f"{count(event.seeds, 'seed')}, {count(event.scripts, 'script')}"
        self._print(Text.assemble(("torch ", "dim"), event.base, (" → ", "dim"), event.head, f"  ·  {programs}"))
        if event.changed:
            first = f"{count(event.first, 'seed')} run lines of {count(event.changed, 'changed file')} and come first"
            unknown = f"; lines of {count(event.untraced, 'seed')} are not known yet" if event.untraced else ""
            self._print(Text(f"{first}{unknown}"))

    def _close(self, summary: DiffSummary) -> None:
        if not self._quiet and self._buckets:
            self._print(Text())
            print_buckets(self._console, self._buckets)
            self._print(Text())
        if summary.interrupted or summary.out_of_time:
            why = "Interrupted" if summary.interrupted else "Out of time"
            self._print(Text(f"{why}: the same command resumes.", "bold yellow"))
        if summary.not_tried:
            names = ", ".join(summary.not_tried[:PROGRAMS_SHOWN])
            more = ", …" if len(summary.not_tried) > PROGRAMS_SHOWN else ""
            number = count(len(summary.not_tried), "program")
            self._print(Text(printable(f"{number} not run with both: {names}{more}"), "yellow"))
        for name, reason in list(summary.invalid.items())[:PROGRAMS_SHOWN]:
            self._print(Text(printable(f"cannot be compared: {name}: {reason}"), "yellow"))
        states = ", ".join(f"{number:,} {state}" for state, number in summary.states.items()) or "no buckets"
        programs = f"{count(summary.programs, 'program')} run with both"
        self._print(Text(f"{programs}  ·  {states}  ·  {duration(summary.seconds)}  ·  in {summary.out}"))
        if summary.new:
            self._print(Text(count(summary.new, "new bucket"), "bold red"))
        elif summary.programs:
            self._print(Text("No new buckets.", "bold yellow" if summary.errors or summary.not_tried else "bold green"))
        else:
            self._print(Text("Nothing was run with both.", "bold yellow"))


def print_buckets(console: Console, buckets: Sequence[BucketCompared]) -> None:
    """A table, new ones first; names stay whole."""
    table = plain_table()
    for head in ("state", "bucket", "base", "head", "what"):
        table.add_column(head, no_wrap=head != "what", overflow="fold")
    order = list(BucketState)
    for one in sorted(buckets, key=lambda one: order.index(one.state)):
        about = " ".join(part for part in (one.title, one.cause and f"({one.cause})", one.issue) if part)
        state = Text(f"{one.state}{' *' if one.changed else ''}", STYLES[one.state])
        table.add_row(state, one.bucket, one.base.lower(), one.head.lower(), Text(printable(about)))
    print_table(console, table)
    if any(one.changed for one in buckets):
        console.print(Text("*: a program that shows it runs a line that has changed", "dim"), soft_wrap=True)


def _line(event: BucketCompared) -> Text:
    issue = f"  known: {event.issue}" if event.issue else ""
    return Text.assemble(
        (f"{event.state:<8}", STYLES[event.state]),
        (event.bucket, "bold"),
        "  ",
        (event.kind, style_of(event.kind)),
        printable(f"  {event.seed}: {event.message}"),
        (issue, "yellow"),
    )
