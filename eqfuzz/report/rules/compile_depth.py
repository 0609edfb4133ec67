"""Compile depth of rules: console report, table, and the page of the documentation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from rich.console import Console
from rich.table import Table
from rich.text import Text

from eqfuzz.events.event import Event
from eqfuzz.events.rules import CompileDepthStarted, CompileDepthSummary, RuleMeasured
from eqfuzz.report.formatting import count, duration
from eqfuzz.report.live_display import LINE_SECONDS, LiveRenderer, LiveReport
from eqfuzz.report.progress import ProgressCounter
from eqfuzz.report.tables import plain_table, print_table
from eqfuzz.rewrite.rules.compile_depth import CompileStage

MEANINGS = {
    CompileStage.NOWHERE: "Dynamo traces both sides to one graph",
    CompileStage.DYNAMO: "the graphs of Dynamo differ, the ATen graphs do not",
    CompileStage.ATEN: "the ATen graphs differ, until Inductor's passes over them",
    CompileStage.POST_GRAD: "the graphs after all passes differ, the generated code does not",
    CompileStage.CODE: "the generated code differs outside the kernels: other library calls, sizes, strides",
    CompileStage.KERNEL: "the generated C++ kernels differ",
}


class CompileDepthReport(LiveReport):
    """Handles the events of a measurement; draws while it is open as a context manager."""

    def __init__(self, console: Console, every: float = LINE_SECONDS) -> None:
        self._console = console
        self._progress = ProgressCounter("rules")
        self._renderer = LiveRenderer(console, self._progress, every)
        self._levels: dict[str, str | None] = {}
        self._reasons: dict[str, str] = {}

    def handle(self, event: Event) -> None:
        """Count and show one event. Not to be called by two threads at once."""
        if isinstance(event, CompileDepthStarted):
            self._progress.begin(event.rules)
        elif isinstance(event, RuleMeasured):
            self._progress.advance()
            self._levels[event.rule] = event.level
            self._reasons[event.rule] = event.reason
        elif isinstance(event, CompileDepthSummary):
            self._renderer.stop()
            self._close(event)

    def _close(self, summary: CompileDepthSummary) -> None:
        print_table(self._console, table_of(self._levels))
        for rule in summary.unmeasured:
            self._console.print(Text(f"not measured: {rule}: {self._reasons[rule]}", style="dim"), soft_wrap=True)
        measured = sum(summary.levels.values())
        self._console.print(Text(f"{count(measured, 'rule')} measured  ·  {duration(summary.seconds)}", style="bold"))


def table_of(levels: Mapping[str, str | None]) -> Table:
    """Number of rules by family (rows) and compile depth (columns)."""
    words = [level.word for level in CompileStage]
    table = plain_table()
    table.add_column("family", no_wrap=True)
    for word in (*words, "unknown"):
        table.add_column(word, justify="right", no_wrap=True)
    for family, counts in _by_family(levels).items():
        table.add_row(family, *(str(counts[w] or "") for w in (*words, None)))
    return table


def page_of(levels: Mapping[str, str | None], unmeasured: Mapping[str, str], provenance: Mapping[str, str]) -> str:
    """The page of the documentation, from what ``survival.json`` holds."""
    words = [level.word for level in CompileStage]
    lines = [
        "# Compile depth of the rules",
        "",
        "The compile depth of a rule is the last stage of the compiler at which its two sides differ: later stages",
        "cannot distinguish the rewritten program from the original. Both sides of the rule's examples were compiled",
        "and their stages compared, on the operands that reach deepest. Names, common subexpressions, dead code and",
        "the order of inputs do not count as differences. Random strategies prefer deep rules.",
        "",
        f"Measured with `{provenance['command']}`, torch {provenance['torch']} on the CPU, {provenance['date']}.",
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
