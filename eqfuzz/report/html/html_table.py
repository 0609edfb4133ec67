"""Tables of a page, which the reader sorts."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from markupsafe import Markup

from eqfuzz.report.formatting import duration
from eqfuzz.report.html.pictures import bar
from eqfuzz.report.html.stored_run import GroupTally, StoredRun
from eqfuzz.report.verdict_texts import MEANING, is_defect

MOST_ROWS = 400


class TableCell(NamedTuple):
    """``text`` is shown, and sorted by ``key`` if there is one."""

    text: str | Markup
    key: float | None = None

    @classmethod
    def of(cls, number: int) -> TableCell:
        """A whole number."""
        return cls(f"{number:,}", number)


@dataclasses.dataclass(frozen=True)
class HtmlTable:
    """``heads`` name the columns; ``note`` says what is left out. The first cell of a row is its heading."""

    caption: str
    heads: tuple[str, ...]
    rows: tuple[tuple[TableCell, ...], ...]
    note: str = ""


def verdict_table(record: StoredRun) -> HtmlTable:
    """Compiled cells by verdict, the most frequent first."""
    most = max(record.verdicts.values(), default=0)
    rows = [
        (TableCell(kind), TableCell.of(number), TableCell(bar(number, most, _colour(kind)), number), _meaning(kind))
        for kind, number in record.verdicts.most_common()
    ]
    return HtmlTable("Compiled cells by verdict", ("verdict", "cells", "share", "meaning"), tuple(rows))


def group_tables(record: StoredRun) -> list[HtmlTable]:
    """Yield by source, configuration and rule; those without cells are left out."""
    source = "Source of seeds" if record.is_campaign else "Folder of seeds"
    groups = ((source, record.by_source), ("Configuration", record.by_config), ("Rule", record.by_rule))
    return [_group_table(name, tallies) for name, tallies in groups if tallies]


def _group_table(name: str, tallies: Mapping[str, GroupTally]) -> HtmlTable:
    ordered = sorted(tallies.items(), key=lambda item: (-len(item[1].buckets), -item[1].cells, item[0]))
    most = max(tally.cells for tally in tallies.values())
    rows = [
        (
            TableCell(key),
            TableCell.of(tally.cells),
            TableCell(bar(tally.cells, most, "neutral"), tally.cells),
            TableCell.of(tally.verdicts["agree"]),
            TableCell.of(tally.open),
            TableCell.of(len(tally.findings)),
            TableCell.of(len(tally.buckets)),
            TableCell(_per_thousand(len(tally.buckets), tally.cells), len(tally.buckets) / max(tally.cells, 1)),
        )
        for key, tally in ordered[:MOST_ROWS]
    ]
    heads = (name.lower(), "cells", "share", "agree", "undecided", "findings", "buckets", "buckets per 1,000 cells")
    more = len(ordered) - MOST_ROWS
    return HtmlTable(f"By {name.lower()}", heads, tuple(rows), f"{more:,} more are left out." if more > 0 else "")


def reward_table(record: StoredRun) -> HtmlTable:
    """The reward per cost of each arm of a campaign's bandit."""
    rows = [
        (TableCell(f"{dimension}: {arm}"), TableCell(f"{reward:.2f}", reward))
        for dimension, arms in record.yields.items()
        for arm, reward in sorted(arms.items(), key=lambda item: -item[1])
    ]
    return HtmlTable("What the campaign learned", ("arm", "reward per cost"), tuple(rows))


def timing_rows(record: StoredRun) -> list[tuple[str, str]]:
    """Wall time, CPU time and memory, as far as they are recorded."""
    summary: Mapping[str, Any] = {**record.summary.get("figures", {}), **record.summary}
    rows: list[tuple[str, str]] = []
    if "total_seconds" in summary:
        rows.append(("wall time", f"{duration(summary['total_seconds'])} in all calls"))
    elif "seconds" in summary:
        rows.append(("wall time", duration(summary["seconds"])))
    if "cpu_seconds" in summary:
        rows.append(("CPU time", duration(summary["cpu_seconds"])))
    if summary.get("peak_mb"):
        rows.append(("memory", f"{summary['peak_mb']:,} MiB in the largest process"))
    return rows


def _per_thousand(number: int, cells: int) -> str:
    return f"{1000 * number / cells:.1f}" if cells else "-"


def _colour(kind: str) -> str:
    if is_defect(kind):
        return "bad"
    return "good" if kind == "agree" else "neutral"


def _meaning(kind: str) -> TableCell:
    return TableCell(next((text for one, text in MEANING.items() if one == kind), ""))


def columns_of(operators: Mapping[str, Mapping[str, Any]]) -> Sequence[str]:
    """The columns of a sweep's matrix, in the order in which they occur."""
    return list(dict.fromkeys(column for by_column in operators.values() for column in by_column))
