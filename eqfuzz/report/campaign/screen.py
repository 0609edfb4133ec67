"""Console report of a campaign: one screen on a terminal, else a line now and then; tables at the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from eqfuzz.campaign.metrics import CampaignMetrics, RunningItem
from eqfuzz.events.campaign import (
    CampaignBlocked,
    CampaignStarted,
    CampaignStopping,
    CampaignSummary,
    EpochCommitted,
    ItemEnded,
    SourceUnavailable,
    WorkerLost,
)
from eqfuzz.events.event import Event
from eqfuzz.events.run import FindingReported, SeedInvalid
from eqfuzz.events.self_check import SelfCheckStep
from eqfuzz.report.formatting import count, duration, named_versions, printable, sparkline
from eqfuzz.report.layout import print_text
from eqfuzz.report.live_display import LINE_SECONDS, LiveRenderer, LiveReport
from eqfuzz.report.run.finding_panel import headline, one_line
from eqfuzz.report.run.invalid_seeds import reason_lines
from eqfuzz.report.verdict_texts import in_parentheses, style_of

ARMS_SHOWN = 6
RUNNING_SHOWN = 4
CRASHES = ("hang", "process-crash", "out-of-memory", "compiler-crash")


class CampaignScreen:
    """The metrics of a campaign, as a screen or as a line; a ``ProgressSource``. ``workers`` is their number."""

    def __init__(self, statistics: CampaignMetrics, name: str, workers: int) -> None:
        self._statistics = statistics
        self._name = name
        self.workers = workers
        self.stage = "starting"
        """The step before the first seed; empty from then on."""

    def line(self) -> str:
        figures = self._statistics.figures()
        parts = [
            duration(figures["seconds"]),
            f"epoch {figures['epoch']}",
            count(figures["programs"], "program") + _percent(figures["valid_share"], " ({} valid)"),
            count(figures["cells"], "cell") + f" ({figures['cells_per_second']:.2f}/s)",
            _percent(figures["erased_share"], "{} erased"),
            _percent(figures["only_graphs_share"], "{} graphs only"),
            f"{figures['buckets']} new in {figures['findings']} findings, {figures['known']} known",
            *(f"{kind} {figures['verdicts'][kind]}" for kind in (*CRASHES, "flaky") if figures["verdicts"].get(kind)),
            f"{figures['features']:,} features, {figures['lines']:,} lines, corpus {figures['kept']}",
            f"last new {_ago(figures['last_bucket_seconds_ago'])}",
            f"model ${figures['dollars']:.4f}, {_seeds(figures)}" if "dollars" in figures else "",
        ]
        if self.stage:
            parts = [parts[0], self.stage]
        if figures["waiting"]:
            parts.insert(0, f"WAITING ({figures['waiting']})")
        return ", ".join(part for part in parts if part)

    def display(self) -> RenderableType:
        figures = self._statistics.figures()
        columns = Table.grid(padding=(0, 3), expand=False)
        for _ in range(3):
            columns.add_column()
        columns.add_row(self._progress(figures), self._results(figures), self._feedback(figures))
        parts: list[RenderableType] = [columns]
        if self.stage:
            parts += [Text(), Text(self.stage, style="dim")]
        yields = self._statistics.yields()
        if yields:
            parts += [Text(), _rewards(yields)]
        for item in self._statistics.running()[:RUNNING_SHOWN]:
            parts.append(Text(f"  {_progress_of(item)}", style="dim", no_wrap=True, overflow="ellipsis"))
        if figures["waiting"]:
            cause = f"waiting: {figures['waiting']}: {figures['waiting_detail']}"
            parts.append(Text(printable(cause), style="bold yellow"))
        title = Text.assemble(" eqfuzz campaign ", (self._name, "bold"), " ")
        return Panel(Group(*parts), title=title, title_align="left", box=box.ROUNDED, border_style="cyan")

    def _progress(self, figures: Mapping[str, Any]) -> Table:
        workers = f"{self.workers} alive"
        if figures["workers_restarted"]:
            workers += f", {figures['workers_restarted']} restarted"
        if figures["workers_lost"]:
            workers += f", {figures['workers_lost']} lost"
        return _pairs(
            [
                ("run time", duration(figures["seconds"])),
                ("CPU time", duration(figures["cpu_seconds"])),
                ("epoch", f"{figures['epoch']}"),
                ("programs", f"{figures['programs']:,}" + _percent(figures["valid_share"], "  {} valid")),
                ("cells", f"{figures['cells']:,}  {figures['cells_per_second']:.2f}/s"),
                ("erased", _percent(figures["erased_share"], "{}") or "-"),
                ("graphs only", _percent(figures["only_graphs_share"], "{}") or "-"),
                ("workers", workers),
            ]
        )

    def _results(self, figures: Mapping[str, Any]) -> Table:
        verdicts = figures["verdicts"]
        new = Text(f"{figures['buckets']}", style="bold red" if figures["buckets"] else "green")
        return _pairs(
            [
                ("new buckets", new),
                ("findings", f"{figures['findings']} new, {figures['known']} known"),
                ("last new", _ago(figures["last_bucket_seconds_ago"])),
                ("flaky", f"{verdicts.get('flaky', 0)}"),
                ("crashes", f"{verdicts.get('process-crash', 0) + verdicts.get('compiler-crash', 0)}"),
                ("hangs", f"{verdicts.get('hang', 0)}"),
                ("out of memory", f"{verdicts.get('out-of-memory', 0)}"),
            ]
        )

    def _feedback(self, figures: Mapping[str, Any]) -> Table:
        curve = self._statistics.curve()
        rows: list[tuple[str, str | Text]] = [
            ("features", f"{figures['features']:,}"),
            ("", sparkline([point["features"] for point in curve])),
            ("lines", f"{figures['lines']:,}"),
            ("", sparkline([point["lines"] for point in curve])),
            ("corpus", f"{figures['kept']:,}"),
            ("stability", _percent(figures["stability"], "{}") or "-"),
        ]
        if "dollars" in figures:
            rows += [
                ("model", f"${figures['dollars']:.4f}, {count(figures['queries'], 'query', 'queries')}"),
                ("", _seeds(figures)),
            ]
        return _pairs(rows)


class CampaignReport(LiveReport):
    """Handles the events of a campaign; draws while it is open as a context manager. ``quiet``: findings and totals."""

    def __init__(
        self, console: Console, screen: CampaignScreen, *, quiet: bool = False, every: float = LINE_SECONDS
    ) -> None:
        self.console = console
        self._screen = screen
        self._renderer = LiveRenderer(console, screen, every)
        self._quiet = quiet
        self._out = ""
        self._invalid: set[str] = set()

    def handle(self, event: Event) -> None:
        """Show one event. Not to be called by two threads at once."""
        match event:
            case CampaignStarted(out=out):
                self._out = out
                self._screen.workers, self._screen.stage = event.jobs, ""
                self._start(event)
            case SelfCheckStep(step=step, passed=passed) if not self._quiet:
                self._print_line(
                    f"self-check: {step}" if passed else f"self-check FAILS: {step}", "dim" if passed else "red"
                )
            case FindingReported(issue=issue, known=False):  # an earlier run has printed the others
                line = (
                    f"known ({issue.strip('()')}): {headline(event)}"
                    if issue
                    else f"{one_line(event)}  [{event.bucket}]"
                )
                self._print_line(line, "yellow" if issue else "bold red")
            case ItemEnded(state="lost" | "error", seed=seed, reason=reason):
                self._print_line(f"{seed}: {reason}", "red")
            case SeedInvalid(seed=seed, reason=reason) if not self._quiet and seed not in self._invalid:
                self._invalid.add(seed)
                self._print_line(f"invalid: {reason}", "yellow")
            case CampaignBlocked(cause=cause, detail=detail) if cause:
                self._print_line(f"waiting, {cause}: {detail}", "bold yellow")
            case SourceUnavailable(source=source, detail=detail):
                self._print_line(f"{source}: {detail}", "yellow")
            case WorkerLost(worker=worker, detail=detail):
                self._print_line(f"worker {worker} is lost, its items are released: {detail}", "yellow")
            case CampaignStopping(why=why, running=running):
                self._print_line(_stopping(why, running), "bold yellow" if why in ("interrupt", "error") else "dim")
            case EpochCommitted() if not self._quiet and not self.console.is_terminal:
                self._epoch(event)
            case CampaignSummary():
                self._close(event)
            case _:
                pass

    def _start(self, event: CampaignStarted) -> None:
        if self._quiet:
            return
        self._print_line(named_versions(event.versions), "dim")
        self._print_line(
            "  ·  ".join(
                (
                    f"campaign {event.campaign}" + (", resumed" if event.resumed else ""),
                    ", ".join(event.sources[:3]) + (f" and {len(event.sources) - 3} more" if event.sources[3:] else ""),
                    count(event.rules, "rule"),
                    ", ".join(event.configs),
                    f"{count(event.jobs, 'job')} ({event.executor})",
                    f"random seed {event.seed}",
                )
            ),
            "",
        )

    def _epoch(self, event: EpochCommitted) -> None:
        reached = f"epoch {event.epoch}: {event.new_features} new features, {event.new_lines} new lines"
        self._print_line(
            f"{reached}, {count(event.new_buckets, 'new bucket')}, {count(event.kept, 'program')} kept", "dim"
        )

    def _close(self, summary: CampaignSummary) -> None:
        self._renderer.stop()
        if not self._quiet:
            if summary.yields:
                self.console.print()
                self.console.print(_rewards(summary.yields))
            self.console.print()
            self.console.print(_verdicts(summary.figures["verdicts"]))
        self.console.print()
        for line in closing_lines(summary, self._out):
            self.console.print(line, soft_wrap=True)

    def _print_line(self, text: str, style: str) -> None:
        print_text(self.console, Text(printable(text), style=style))


def closing_lines(summary: CampaignSummary, out: str) -> list[Text]:
    """The last lines of every campaign, ``--quiet`` or not."""
    figures = summary.figures
    amounts = (
        count(figures["programs"], "program") + f" ({figures['invalid']:,} invalid)",
        count(figures["variants"], "variant"),
        count(figures["cells"], "compiled cell")
        + f" ({figures['erased']:,} erased, {figures['only_graphs']:,} as graphs only)",
        f"{figures['features']:,} features",
        f"{figures['lines']:,} lines",
        f"corpus {figures['kept']:,}",
    )
    costs = (
        f"{duration(summary.seconds)} this time, {duration(summary.total_seconds)} in all",
        f"{duration(figures['cpu_seconds'])} CPU",
        f"epoch {figures['epoch']}",
        f"random seed {summary.seed}",
    )
    dot = Text.assemble(("  ·  ", "dim"))
    lines = [dot.join(map(Text, amounts)), dot.join(map(Text, costs))]
    if "dollars" in figures:
        model = (f"model ${figures['dollars']:.4f}", count(figures["queries"], "query", "queries"), _seeds(figures))
        lines.append(dot.join(map(Text, model)))
    again = f"eqfuzz campaign --name {summary.campaign} resumes it"
    if summary.interrupted:
        lines.append(Text(f"Interrupted: the figures are partial; {again}.", style="bold yellow"))
    else:
        ended = "No seed is left" if summary.why == "seeds" else f"Ended by {_WHY.get(summary.why, summary.why)}"
        lines.append(Text(f"{ended}; {again}.", style="dim"))
    if summary.invalid_reasons:
        number = sum(reason.count for reason in summary.invalid_reasons)
        heading = f"{count(number, 'invalid program')} in this invocation (--format json names each):"
        lines += [Text(heading, style="bold yellow")]
        lines += [Text(f"  {line}", style="bold yellow") for line in reason_lines(summary.invalid_reasons)]
    lines += [Text(f"internal error: {error}", style="bold red") for error in summary.errors]
    if summary.known:
        findings = count(summary.known, "finding")
        lines.append(Text(f"{findings} of known issues (eqfuzz known list)", style="yellow"))
    if summary.findings:
        new = f"{count(summary.findings, 'finding')} in {count(summary.buckets, 'bucket')}"
        new += in_parentheses(figures["severities"])
        lines.append(Text.assemble((new, "bold red"), " in ", (f"{out}/findings", "bold")))
    else:
        lines.append(Text("No new findings." if summary.known else "No findings.", style="bold green"))
    return lines


_WHY = {
    "time": "its time",
    "cpu": "its CPU seconds",
    "cells": "its number of cells",
    "findings": "its number of findings",
    "dollars": "its dollars",
    "model": "its model",
    "error": "an error",
}


def _progress_of(item: RunningItem) -> str:
    """``preparing seeds/a.py``, then ``1/12 cells of seeds/a.py``."""
    if item.cells is None:
        return f"preparing {printable(item.seed)}"
    return f"{item.judged:,}/{max(item.cells, item.judged):,} cells of {printable(item.seed)}"


def _rewards(rewards: Mapping[str, Mapping[str, float]]) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column()
    for dimension, arms in sorted(rewards.items()):
        best = sorted(arms.items(), key=lambda item: (-item[1], item[0]))[:ARMS_SHOWN]
        more = len(arms) - len(best)
        listed = "  ".join(f"{name} {reward:.2f}" for name, reward in best) + (f"  and {more} more" if more else "")
        table.add_row(f"reward per cost, {dimension}", listed)
    return table


def _verdicts(verdicts: Mapping[str, int]) -> Text:
    parts = [Text(f"{kind} {number:,}", style=style_of(kind)) for kind, number in verdicts.items()]
    return Text.assemble(("  ·  ", "dim")).join(parts) if parts else Text("no verdicts", style="dim")


def _pairs(rows: Sequence[tuple[str, str | Text]]) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(no_wrap=True)
    for name, text in rows:
        table.add_row(name, text)
    return table


def _seeds(figures: Mapping[str, Any]) -> str:
    """How many of the requested programs are seeds."""
    samples: Mapping[str, int] = figures["samples"]
    requested = sum(samples.values())
    return f"{samples.get('accepted', 0)} of {requested} programs accepted" if requested else "nothing requested yet"


def _percent(share: float | None, form: str) -> str:
    return "" if share is None else form.format(f"{share:.0%}")


def _ago(seconds: float | None) -> str:
    return "-" if seconds is None else f"{duration(seconds)} ago"


def _stopping(why: str, running: int) -> str:
    will = "handed back" if why == "time" else "finished"
    waits = f"; {count(running, 'seed')} in flight {'is' if running == 1 else 'are'} {will}" if running else ""
    if why == "interrupt":
        return f"interrupted{waits} (once more: stop now)"
    reason = {"error": "an error", "seeds": "no seed is left", "model": "the model writes no more"}.get(
        why, f"{_WHY.get(why, why)} spent"
    )
    return f"ending: {reason}{waits}"
