"""Console report of a run: progress, a panel for each finding at once, tables at the end."""

from __future__ import annotations

import time
from collections.abc import Callable

from rich.console import Console
from rich.text import Text

from eqfuzz.events.configs import ConfigsSampled
from eqfuzz.events.event import Event
from eqfuzz.events.generate import ProgramsRun
from eqfuzz.events.run import (
    CellJudged,
    FindingReported,
    RunStarted,
    SeedDone,
    SeedRewritten,
    SitesListed,
    Summary,
    VariantMade,
)
from eqfuzz.events.self_check import SelfCheckStep
from eqfuzz.oracle.compare.verdict import VerdictKind
from eqfuzz.report.formatting import count, duration, named_versions, printable
from eqfuzz.report.generate.dag import print_programs_run
from eqfuzz.report.layout import print_text
from eqfuzz.report.live_display import LINE_SECONDS, LiveRenderer, LiveReport
from eqfuzz.report.run.finding_panel import headline, one_line, print_finding
from eqfuzz.report.run.progress import RunProgress
from eqfuzz.report.run.rewrites import RewritesBySeed
from eqfuzz.report.run.summary import print_summary, print_totals
from eqfuzz.report.verbs.config import print_sampled

NOTABLE = (VerdictKind.SUSPECT_RULE, VerdictKind.FLAKY, VerdictKind.SLOW)
CONFIGS_SHOWN = 8


class ConsoleReport(LiveReport):
    """Handles the events of a run; draws while it is open as a context manager.

    ``quiet``: one line per finding and the totals, nothing else. ``dry_run``: one line per seed; with ``diff`` its
    sites and variants. ``verbose``: one line per seed that is done, with its outcome.
    """

    def __init__(
        self,
        console: Console,
        *,
        quiet: bool = False,
        dry_run: bool = False,
        diff: bool = False,
        verbose: bool = False,
        time_budget: float | None = None,
        every: float = LINE_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.console = console
        self._quiet = quiet
        self._dry_run = dry_run
        self._verbose = verbose
        self._progress = RunProgress(time_budget, clock)
        self._renderer = LiveRenderer(console, self._progress, every)
        self._rewrites = RewritesBySeed(console) if diff and not quiet else None
        self._out = ""
        self._findings: list[FindingReported] = []
        self._notable: list[CellJudged] = []
        self._programs: ProgramsRun | None = None

    def handle(self, event: Event) -> None:
        """Count and show one event. Not to be called by two threads at once."""
        self._progress.count(event)
        match event:
            case RunStarted():
                self._start(event)
            case SelfCheckStep(step=step, passed=passed) if not self._quiet:
                self._print_line(
                    f"self-check: {step}" if passed else f"self-check FAILS: {step}", "dim" if passed else "red"
                )
            case ConfigsSampled() if not self._quiet:
                print_sampled(self.console, event)
            case SitesListed() | VariantMade() if self._rewrites is not None:
                self._rewrites.take(event)
            case SeedDone(index=index) if self._rewrites is not None:
                self._rewrites.show(index)
            case SeedDone(index=index, seed=seed, seconds=seconds) if self._verbose and not self._quiet:
                text = f"{self._progress.outcome(index)}  {seed}  {duration(seconds)}"
                self._print_line(printable(text), "")
            case SeedRewritten() if self._dry_run and not self._quiet and self._rewrites is None:
                self._print_rewritten(event)
            case CellJudged(verdict=verdict) if verdict.kind in NOTABLE:
                self._notable.append(event)
            case FindingReported():
                self._find(event)
            case ProgramsRun():
                self._programs = event
            case Summary():
                self._close(event)
            case _:
                pass

    def _start(self, event: RunStarted) -> None:
        self._out = event.out
        if self._quiet:
            return
        parts = (
            count(event.seeds, "seed file"),
            *(
                ("nothing rewritten",)
                if event.strategy == "none"
                else (f"strategy {event.strategy}", count(event.rules, "rule"))
            ),
            f"{_names(event.configs)} on {', '.join(event.devices)}",
            f"{count(event.jobs, 'job')} ({event.runner})",
            f"random seed {event.seed}",
        )
        self._print_line(named_versions(event.versions), "dim")
        self._print_line("  ·  ".join(parts), "")

    def _print_rewritten(self, event: SeedRewritten) -> None:
        text = f"{event.seed}  {count(event.sites, 'site')}, {count(event.variants, 'variant')}"
        self._print_line(printable(text), "")

    def _find(self, event: FindingReported) -> None:
        self._findings.append(event)
        if event.issue:
            self._print_line(f"known ({event.issue.strip('()')}): {headline(event)}", "yellow")
        elif self._quiet:
            self._print_line(one_line(event), "bold red")
        else:
            print_finding(self.console, event, self._out)

    def _close(self, summary: Summary) -> None:
        self._renderer.stop()
        if self._quiet:
            print_totals(self.console, summary, self._out)
        else:
            print_summary(self.console, summary, self._findings, self._notable, self._out)
            if self._programs is not None:
                print_programs_run(self.console, self._programs, everything=self._verbose)

    def _print_line(self, text: str, style: str) -> None:
        print_text(self.console, Text(text, style=style))


def _names(configs: list[str]) -> str:
    """All names if they are few; else the first, and the number of others."""
    if len(configs) <= CONFIGS_SHOWN:
        return ", ".join(configs)
    return f"{configs[0]} and {count(len(configs) - 1, 'more configuration')}"
