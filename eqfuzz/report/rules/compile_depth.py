"""How far rules get: the console during the measurement, the table at its end, and the page of the documentation."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping

from rich import box
from rich.console import Console, RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from eqfuzz.events.event import Event
from eqfuzz.events.rules import CompileDepthStarted, CompileDepthSummary, RuleMeasured
from eqfuzz.report.formatting import count, duration
from eqfuzz.report.live_display import LINE_SECONDS, LiveDisplay, LiveRenderer
from eqfuzz.rewrite.rules.compile_depth import CompileStage

MEANINGS = {
    CompileStage.NOWHERE: "Dynamo traces both sides to one graph",
    CompileStage.DYNAMO: "the graphs of Dynamo differ, the ATen graphs do not",
    CompileStage.ATEN: "the ATen graphs differ, until Inductor's passes over them",
    CompileStage.POST_GRAD: "the graphs after all passes differ, the generated code does not",
    CompileStage.CODE: "the generated code differs outside the kernels: other library calls, sizes, strides",
    CompileStage.KERNEL: "the generated C++ kernels differ",
}


class CompileDepthProgress:
    """Counts rules on one thread while another one draws."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._began = clock()
        self._lock = threading.Lock()
        self._rules = 0
        self._done = 0

    def count(self, event: Event) -> None:
        with self._lock:
            if isinstance(event, CompileDepthStarted):
                self._rules = event.rules
            elif isinstance(event, RuleMeasured):
                self._done += 1

    def line(self) -> str:
        with self._lock:
            elapsed = self._clock() - self._began
            left = f", about {duration(elapsed / self._done * (self._rules - self._done))} left" if self._done else ""
            return f"{self._done:,}/{self._rules:,} rules, {duration(elapsed)} so far{left}"

    def display(self) -> RenderableType:
        bar = Table.grid(padding=(0, 1, 0, 0), expand=True)
        bar.add_column(ratio=1)
        bar.add_column(no_wrap=True, justify="right")
        bar.add_row(ProgressBar(total=max(self._rules, 1), completed=self._done), self.line())
        return bar


class CompileDepthReport(LiveDisplay):
    """A handler of a measurement's events that writes to ``console``; draws while it is open as a context manager."""

    def __init__(self, console: Console, every: float = LINE_SECONDS) -> None:
        self._console = console
        self._progress = CompileDepthProgress()
        self._drawing = LiveRenderer(console, self._progress, every)
        self._levels: dict[str, str | None] = {}
        self._reasons: dict[str, str] = {}

    def handle(self, event: Event) -> None:
        """Count and show one event. Not to be called by two threads at once."""
        self._progress.count(event)
        if isinstance(event, RuleMeasured):
            self._levels[event.rule] = event.level
            self._reasons[event.rule] = event.reason
        elif isinstance(event, CompileDepthSummary):
            self._drawing.stop()
            self._close(event)

    def _close(self, summary: CompileDepthSummary) -> None:
        self._console.print(table_of(self._levels))
        for rule in summary.unmeasured:
            self._console.print(Text(f"not measured: {rule}: {self._reasons[rule]}", style="dim"), soft_wrap=True)
        measured = sum(summary.levels.values())
        self._console.print(Text(f"{count(measured, 'rule')} measured  ·  {duration(summary.seconds)}", style="bold"))


def table_of(levels: Mapping[str, str | None]) -> Table:
    """Rules by family (rows) and level (columns)."""
    words = [level.word for level in CompileStage]
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("family", no_wrap=True)
    for word in (*words, "unknown"):
        table.add_column(word, justify="right", no_wrap=True)
    for family, counts in _by_family(levels).items():
        table.add_row(family, *(str(counts[w] or "") for w in (*words, None)))
    return table


def page_of(levels: Mapping[str, str | None], unmeasured: Mapping[str, str], made: Mapping[str, str]) -> str:
    """The page of the documentation, from what ``survival.json`` holds."""
    words = [level.word for level in CompileStage]
    lines = [
        "# How far the rules get",
        "",
        "A rewritten program exercises the compiler up to the stage at which it becomes the same as the original. For",
        "every rule both sides of its examples were compiled, and the stages compared; the level is the last one that",
        "differs, on the operands that get furthest. Names, common subexpressions, dead code and the order of inputs",
        "do not count as differences. Random strategies draw rules that get far more often.",
        "",
        f"Measured with `{made['command']}`, torch {made['torch']} on the CPU, {made['date']}.",
        "",
        "| level | meaning | rules |",
        "|---|---|---:|",
        *(
            f"| {level.word} | {MEANINGS[level]} | {list(levels.values()).count(level.word)} |"
            for level in CompileStage
        ),
        "",
        f"| family | {' | '.join(words)} |",
        f"|---|{'---:|' * len(words)}",
        *(f"| {f} | {' | '.join(str(c[w] or '') for w in words)} |" for f, c in _by_family(levels).items()),
        "",
        "## Not measured",
        "",
        "Rules that break the graph by design, or whose operands are never of ordinary size:",
        "",
        *(f"- `{rule}`: {reason}" for rule, reason in sorted(unmeasured.items())),
    ]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _by_family(levels: Mapping[str, str | None]) -> dict[str, Counter[str | None]]:
    families: dict[str, Counter[str | None]] = {}
    for rule, level in sorted(levels.items()):
        families.setdefault(rule.partition("/")[0], Counter())[level] += 1
    return families
