"""Console report of ``eqfuzz self-check``: one line per step, the tables of recall and precision at the end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from eqfuzz.events.event import Event
from eqfuzz.events.self_check import SelfCheckProgress, SelfCheckStep, SelfCheckSummary
from eqfuzz.oracle.calibration.columns import COLUMNS
from eqfuzz.oracle.calibration.recall_table import RecallCounts, RecallTable
from eqfuzz.report.formatting import duration, printable
from eqfuzz.report.live_display import LINE_SECONDS, LiveRenderer, LiveReport
from eqfuzz.report.progress import ProgressCounter
from eqfuzz.report.tables import plain_table, print_table

_DTYPES = ("float32", "float64", "float16", "bfloat16")
_GROUPS = ("outputs", "gradients")


class SelfCheckReport(LiveReport):
    """Handles the events of a self-check; draws while it is open as a context manager."""

    def __init__(self, console: Console, every: float = LINE_SECONDS) -> None:
        self._console = console
        self._progress = ProgressCounter("done")
        self._part = ""
        self._renderer = LiveRenderer(console, self._progress, every)

    def handle(self, event: Event) -> None:
        """Show one event. Not to be called by two threads at once."""
        match event:
            case SelfCheckProgress(part=part, done=done, total=total):
                if part != self._part:
                    self._part, self._progress.note = part, Text(part)
                    self._progress.begin(total)
                self._progress.reach(done)
            case SelfCheckStep(step=step, passed=passed, detail=detail, seconds=seconds):
                mark = ("✓ ", "green") if passed else ("✗ ", "bold red")
                text = f"  {printable(detail)}, {duration(seconds)}"
                self._print(Text.assemble(mark, step, (text, "dim")))
            case SelfCheckSummary():
                self._close(event)
            case _:
                pass

    def _close(self, summary: SelfCheckSummary) -> None:
        self._renderer.stop()
        if summary.recall is not None and summary.recall["rows"]:
            print_table(self._console, recall_table(summary.recall))
            print_table(self._console, false_alarms_table(summary.recall))
            for claim in summary.recall["called_wrong"]:
                self._print(Text(f"  correct, but called wrong: {printable(claim)}", style="yellow"))
        if summary.precision:
            print_table(self._console, precision_table(summary.precision))
            for pairs in summary.precision:
                for claim in pairs["called_wrong"]:
                    self._print(Text(f"  {printable(claim)}", style="red"))
        words = ("passed", "bold green") if summary.passed else ("failed", "bold red")
        if summary.interrupted:
            words = ("stopped early", "bold yellow")
        self._print(Text.assemble("self-check ", words, (f"  ·  {duration(summary.seconds)}", "dim")))


def recall_table(recall: RecallTable) -> Table:
    """Share of faults that each oracle detects, by dtype, group and kind; shares above eqfuzz's are marked."""
    table = plain_table("Recall: planted faults detected, in percent")
    for name in ("dtype", "where", "fault"):
        table.add_column(name, no_wrap=True)
    for name in ("planted", *COLUMNS):
        table.add_column(name, justify="right")
    for row in _sorted(recall["rows"]):
        shares = [100 * row["detected"].get(name, 0) / row["planted"] for name in COLUMNS]
        cells = [Text(f"{share:.1f}", style="bold yellow" if share > shares[0] else "") for share in shares]
        table.add_row(row["dtype"], row["group"], row["fault"], f"{row['planted']:,}", *cells)
    return table


def false_alarms_table(recall: RecallTable) -> Table:
    """Number of programs, and of correct compiled runs that each oracle called wrong, by dtype."""
    table = plain_table("Programs whose correct compiled run was called wrong")
    table.add_column("dtype", no_wrap=True)
    for name in ("programs", *COLUMNS[1:]):
        table.add_column(name, justify="right")
    for dtype in (name for name in _DTYPES if name in recall["programs"]):
        wrong = [str(recall["false_alarms"].get(dtype, {}).get(name, 0)) for name in COLUMNS[1:]]
        table.add_row(dtype, str(recall["programs"][dtype]), *wrong)
    return table


def precision_table(precision: list[dict[str, Any]]) -> Table:
    """Verdicts on pairs of correct runs, by kind of pair; false alarms of the baseline oracles where measured."""
    table = plain_table("Precision: pairs of correct runs")
    table.add_column("pairs of", no_wrap=True)
    for name in ("pairs", "agree", "inconclusive", "called wrong", *(f"alarms of {n}" for n in COLUMNS[1:])):
        table.add_column(name, justify="right")
    for pairs in precision:
        kinds = pairs["kinds"]
        count = sum(kinds.values())
        figures = [count, kinds.get("agree", 0), kinds.get("inconclusive", 0), len(pairs["called_wrong"])]
        alarms = [f"{pairs['alarms'].get(name, 0):,}" if pairs["alarms"] else "" for name in COLUMNS[1:]]
        table.add_row(pairs["name"], *(f"{figure:,}" for figure in figures), *alarms)
    return table


def _sorted(rows: list[RecallCounts]) -> Iterator[RecallCounts]:
    order: dict[str, int] = {}
    for row in rows:
        order.setdefault(row["fault"], len(order))

    def place(row: RecallCounts) -> tuple[int, int, int]:
        return _DTYPES.index(row["dtype"]), _GROUPS.index(row["group"]), order[row["fault"]]

    yield from sorted(rows, key=place)
